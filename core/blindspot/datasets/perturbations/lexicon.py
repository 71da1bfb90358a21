"""Closed lists of English words that the rules read, all of them written for this project."""

from __future__ import annotations

DETERMINERS = frozenset("the a an this that these those my your his her its our their".split())
NUMERALS = (
    *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
SUBJECTS = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them"}  # with the object's form
OBJECTS = {"me": "I", "him": "he", "us": "we", "them": "they"}  # "her" may be a possessive: only before the end
PREPOSITIONS = frozenset(
    "about above across after against along among around as at before behind below beneath beside between beyond by "
    "despite down during except for from in inside into like near off on onto out outside over past per since through "
    "throughout to toward towards under until up upon via with within without".split()
)
ADVERBS = frozenset(
    "again ago already also always away back often never now once only quite rarely seldom sometimes soon still then "
    "there today together tomorrow tonight too twice usually very yesterday yet here just even almost nearly".split()
)
CONJUNCTIONS = frozenset("and or but nor so because although though while when where if unless whether than".split())
QUESTION_WORDS = frozenset("who whom whose which what why how".split())
BE = frozenset("is are was were am".split())
MODALS = frozenset("can could will would shall should must may might".split())
HAVE = frozenset("has have had".split())
DO = frozenset("do does did".split())
AUXILIARIES = BE | MODALS | HAVE | DO
PRONOUNS = frozenset("i you he she it we they me him us them one someone everyone nobody anybody everybody".split())
CLOSED = (
    DETERMINERS | PREPOSITIONS | ADVERBS | CONJUNCTIONS | QUESTION_WORDS | AUXILIARIES | PRONOUNS
    | frozenset("not no all some every each any many few most several both much more less be been being of".split())
)  # fmt: skip

# Frequent words that tell languages apart; the other languages' lists lack words that English has too.
ENGLISH = CLOSED | frozenset("there their them our us please you're it's don't new when first last".split())
FOREIGN = {
    "German": "der das und nicht ein eine einen dem den mit für auf von zu im sich wir ich auch wird sind",
    "French": "le les et est une des du dans pour que qui pas sur avec nous vous ce cette sont mais au aux ont elle",
    "Spanish": "el los las y es una del en por para que no se con su como más pero fue están muy hay ella",
    "Italian": "il lo gli è una del della che di per con non sono più ma anche nel si questo alla era",
    "Portuguese": "o os as e é uma do da em para que não com por mais foi seu sua ao dos das está",
    "Dutch": "het een en van niet dat op zijn voor met ook maar wordt naar bij wij heeft werd dit",
}

# Base, past and participle of irregular verbs.
IRREGULAR = {
    line.split()[0]: (line.split()[1], line.split()[2])
    for line in """
    be was been; become became become; begin began begun; bend bent bent; bite bit bitten; blow blew blown;
    break broke broken; bring brought brought; build built built; buy bought bought; catch caught caught;
    choose chose chosen; come came come; cost cost cost; cut cut cut; dig dug dug; do did done; draw drew drawn;
    drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen; feed fed fed; feel felt felt;
    fight fought fought; find found found; fly flew flown; forget forgot forgotten; forgive forgave forgiven;
    freeze froze frozen; get got gotten; give gave given; go went gone; grow grew grown; hang hung hung; have had had;
    hear heard heard; hide hid hidden; hit hit hit; hold held held; hurt hurt hurt; keep kept kept; know knew known;
    lay laid laid; lead led led; leave left left; lend lent lent; let let let; lie lay lain; lose lost lost;
    make made made; mean meant meant; meet met met; pay paid paid; put put put; read read read; ride rode ridden;
    ring rang rung; rise rose risen; run ran run; say said said; see saw seen; sell sold sold; send sent sent;
    set set set; shake shook shaken; shoot shot shot; show showed shown; shut shut shut; sing sang sung;
    sink sank sunk; sit sat sat; sleep slept slept; speak spoke spoken; spend spent spent; stand stood stood;
    steal stole stolen; strike struck struck; swear swore sworn; sweep swept swept; swim swam swum; take took taken;
    teach taught taught; tear tore torn; tell told told; think thought thought; throw threw thrown;
    understand understood understood; wake woke woken; wear wore worn; win won won; write wrote written""".split(";")
}
REGULAR = tuple(
    """
    accept add admire admit adopt advise agree allow answer appear apply approve argue arrange arrest arrive ask assist
    attack attend avoid bake beat belong blame block boil borrow bother call cancel carry cause chair challenge change
    charge chase check clean climb close collect comfort compare complain complete consider contain continue cook copy
    count cover create criticize cross cry damage dance deceive decide defeat defend delay deliver demand deny depend
    describe deserve design destroy develop dislike discover discuss divide double drop earn elect employ encourage
    enjoy enter escape examine expect explain explore express face fail fear fill finish fire fix follow force frighten
    gather greet guess guide hand handle happen hate help hire hope hug hunt identify ignore imagine improve include
    increase inform injure insist inspect insult interview introduce invent invite invoice join judge jump kick kill
    kiss knock land last laugh launch learn lift like list listen live load look love manage mark marry match measure
    mention miss mix move name need notice obey offer open order organize owe own pack paint park pass persuade phone
    photograph pick plan plant play please point pour praise prefer prepare present press prevent print produce promise
    promote protect prove publish pull punish push question raise reach receive recognize recommend record reduce
    refuse regret reject release remain remember remind remove rent repair repeat replace reply report request require
    rescue respect return review ring rob rule save scare scold scratch search seem select serve share shout sign
    smell smile solve start state stay stop study succeed suggest supply support suppose surprise suspect talk taste
    test thank threaten touch trade train translate travel treat trust try turn underline use value visit vote wait
    walk want warn wash waste watch water welcome wish work worry""".split()
)
DOUBLED = frozenset("admit drop hug plan prefer regret rob stop".split())  # stopped, planned
# Verbs that take a complement: "painted the fence green".
COMPLEMENT = frozenset("paint make call name elect consider find keep".split())
# Verbs for what both sides do to each other: swapping the sides keeps the meaning.
SYMMETRIC = frozenset("meet marry match join fight equal resemble hug kiss".split())
# Verbs of states: the subject does nothing to the object.
STATES = frozenset("have get cost mean last".split())

MONTHS = (
    "January February March April May June July August September October November December".split()
)  # fmt: skip
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
FIRST_NAMES = frozenset(
    """Ada Adam Ahmed Alice Amir Ana Andrea Anna Anne Ben Carlos Charlotte Clara Daniel David Diego Elena Elias Emily
    Emma Erik Eva Fatima Felix George Hannah Hans Henry Isabel Jack James Jana Jane Jim John Jonas Joseph Julia Karl
    Kate Laura Lena Leo Li Lisa Louis Lucas Lucy Luis Maria Marie Martin Mary Max Mei Michael Miguel Mina Mohammed Nadia
    Nina Noah Nora Olga Oliver Omar Oscar Paul Peter Priya Raj Robert Rosa Ruth Sam Samuel Sara Sarah Simon Sofia Susan
    Thomas Tim Tom Victor Yuki""".split()
)
PLACES = frozenset(
    """Africa Amsterdam Argentina Asia Athens Australia Austria Bangkok Barcelona Beijing Belgium Berlin Boston Brazil
    Brussels Budapest Cairo California Canada Chicago Chile China Copenhagen Delhi Denmark Dublin Edinburgh Egypt
    England Europe Finland Florence France Geneva Germany Glasgow Greece Hamburg Helsinki Hungary India Indonesia Iran
    Ireland Istanbul Italy Japan Kenya Leeds Lima Lisbon London Lyon Madrid Manchester Mexico Milan Montreal Moscow
    Mumbai Munich Nairobi Naples Netherlands Nigeria Norway Oslo Ottawa Oxford Paris Peru Poland Portugal Prague
    Quebec Rome Russia Scotland Seattle Seoul Shanghai Singapore Spain Stockholm Sweden Switzerland Sydney Texas Tokyo
    Toronto Turin Turkey Ukraine Valencia Venice Vienna Vietnam Wales Warsaw Zurich""".split()
)
DEMONYMS = frozenset(
    """American Australian Austrian Belgian Brazilian British Canadian Chinese Danish Dutch Egyptian English European
    Finnish French German Greek Hungarian Indian Irish Italian Japanese Korean Mexican Norwegian Polish Portuguese
    Roman Russian Scottish Spanish Swedish Swiss Thai Turkish Ukrainian Vietnamese Welsh Arabic""".split()
)
HOLIDAYS = frozenset("Christmas Easter Halloween Thanksgiving Hanukkah Ramadan Passover Diwali".split())
TITLES = frozenset("Mr Mrs Ms Dr Prof Sir President Professor Doctor Captain Judge Senator Inspector".split())
# Words with another meaning in lower case.
CASE_TELLS = frozenset("US IT WHO AIDS Polish May March August Turkey China Reading Nice Mobile Will Mark Bill".split())
# Words from which a slip of two letters makes another word.
CONFUSABLE = frozenset(
    """angel angle casual causal trial trail quiet quite dairy diary desert dessert silver sliver united untied board
    broad beard bread sacred scared marital martial lose loose later latter breath breathe cloth clothe clothes
    whose their three there where weird wired tired tried fried filed field reserve reverse perfect prefect
    conservation conversation signing singing barley barely stable table bored bared plane panel plead pleased
    brain rains train begin being could cloud cause because begging state stated staying saying place palace
    sitting siting dinner diner thought though through tough hoping hopping filling filing price prince coarse
    course morning mourning""".split()
)
