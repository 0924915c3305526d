"""The conformance kit: what every anonymizer has to pass, for authors of plugins too. Never imported by the product."""
