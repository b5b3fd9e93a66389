"""Statistics of crossed studies: item x system x rater."""
