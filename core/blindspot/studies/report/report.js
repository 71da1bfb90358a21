// Draws the figures with the plotly.js in this file, in the reader's color scheme, in light for print.
(async () => {
  const read = (id) => document.getElementById(id).textContent;
  const figures = JSON.parse(read("blindspot-figures"));
  if (!figures.length || !("DecompressionStream" in window)) return;
  const packed = Uint8Array.from(atob(read("blindspot-plotly")), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.textContent = await new Response(stream).text();
  document.head.append(script);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const draw = (scheme) =>
    figures.forEach((figure, place) => {
      const { data, layout } = figure[scheme];
      Plotly.react(`figure-${place}`, data, layout, { displayModeBar: false, responsive: true });
    });
  const screen = () => draw(dark.matches ? "dark" : "light");
  screen();
  dark.addEventListener("change", screen);
  addEventListener("beforeprint", () => draw("light"));
  addEventListener("afterprint", screen);
})();
