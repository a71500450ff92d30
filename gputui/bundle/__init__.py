"""Evidence for a ticket, in one archive, without the names of people, machines and addresses."""
