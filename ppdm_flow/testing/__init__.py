"""The conformance kit for anonymizers, audits and requirements. Never imported by the product."""
