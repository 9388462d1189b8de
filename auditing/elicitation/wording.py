"""What prompts say around the values of a task: the names of the fences, and words for what is not there."""

FENCED_AS = {
    "question": "QUESTION",
    "context": "CONTEXT",
    "options": "OPTIONS",
    "forbidden": "FORBIDDEN REASONING",
    "steps": "REASONING",
    "chain": "REASONING",
    "facts": "FACTS",
    "gold": "REFERENCE ANSWER",
    "transcript": "TRANSCRIPT",
    "boxes": "BOXES",
    "output": "OUTPUT",
    "reference": "REFERENCE",
    "answers": "ANSWERS",
    "answer": "ANSWER",
    "analysis": "ANALYSIS",
    "categories": "CATEGORIES",
    "subcategories": "SUBCATEGORIES",
}
NOT_GIVEN = {
    "question": "(The question is not given.)",
    "context": "(There is no context.)",
    "options": "(The question has no options.)",
    "forbidden": "(No reasoning is forbidden.)",
    "steps": "(There are no steps.)",
    "chain": "(There is no reasoning.)",
    "facts": "(There are no facts.)",
    "gold": "(The reference answer is not known.)",
    "transcript": "(There is no transcript: you do not hear the clip, and nothing said in it was written down.)",
    "boxes": "(No boxes were drawn on the clip.)",
    "pictures": "(No pictures of the clip can be shown to you.)",
    "output": "(The model gave nothing here.)",
    "reference": "(The reference says nothing here.)",
    "answers": "(There are no answers.)",
    "answer": "(The answer is not known.)",
    "analysis": "(There is no analysis.)",
    "categories": "(There are no categories.)",
    "subcategories": "(There are no sub-categories: leave that field an empty text.)",
}
WITHHELD = {
    "transcript": "(No sound of the clip was given to you, and no transcript: you do not know what is heard in it.)",
    "boxes": "(No boxes were given to you: you do not know where on the picture things were marked.)",
    "pictures": "(No pictures of the clip were given to you: you do not know what is seen in it.)",
}
"""Said in place of a cue that was taken away on purpose; other words than those for a cue that is not there."""

BOXES_FORM = """\
After the final answer, write where the things are that the visual cue is about: a line Boxes: and below it at most 10
lines, each for one thing at the time of a picture that you were shown, in this form:

Boxes:
- label @ 00:12.5: x y w h

The four numbers are left, top, width and height of the box in percent of the picture's width and height, from 0 to
100. Leave the block out where you cannot tell."""
NO_BOXES_FORM = "You were shown no pictures: write no boxes."

ANSWER_FORMS = {
    "boolean": "yes or no, that word alone",
    "choice": "the letter of one option, the letter alone",
    "number": "a number in digits, the number alone, without a unit or a calculation",
    "text": "the answer itself in a few words, not a sentence",
}
