"""What a sentence claims, and whether the stories that it rests on bear it out: numbers, dates, quotations, names."""
