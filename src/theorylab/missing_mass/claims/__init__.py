"""The chapter's claims; importing this package registers them."""
