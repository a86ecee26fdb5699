"""What turns the repository into a site: pages made from the program, and the hook of the generator."""
