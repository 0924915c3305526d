"""The conformance kit: what every anonymizer, audit and requirement has to pass. Never imported by the product."""
