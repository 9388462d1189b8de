"""Pages of accounts: login, one's own account, other people, invitations."""
