"""The pages of the site, and the programs that run their code and build it."""
