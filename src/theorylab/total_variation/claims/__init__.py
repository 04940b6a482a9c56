"""The chapter's claims, by topic; importing this package registers them."""
