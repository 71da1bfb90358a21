"""Languages: how well a model finds translations, language by language, and whether language wins over meaning."""
