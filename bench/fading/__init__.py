"""What forgetting costs: a cleanup in proportion to what falls, and the writing of links with each entry."""
