"""ppdm_flow: a policy file in, an audited release of personal data or a refusal out."""

__version__ = "0.1.0"
