"""What the platform's own records say of a plan, in the forms of the plan itself."""
