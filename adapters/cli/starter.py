"""The spec file that `classify init` writes: it validates, and runs with the embedded model."""

from __future__ import annotations

STARTER = """\
# A classifier: questions about a text, put to a language model.
#   classify validate classify.yaml
#   classify show classify.yaml --state "My parcel has not arrived and I need it tomorrow!"
#   classify run classify.yaml rows.jsonl -o results.jsonl

# The name that is kept with every result.
id: support

# The model that answers, as provider/model (`classify models` lists the providers); "local" is
# the small embedded one, which needs no key and no network.
model: local

# The small model reads no instructions: it continues "Text: … / cue" with the words below, so
# for it `cue` and `words` are the question. Larger models are asked the instructions and criteria.
questions:
  # One of several options, each with a description or none (null).
  topic:
    type: choice
    instructions: What is the message about?
    criteria:
      delivery: a parcel, its way or its delay
      refund: money back, or a return
      account: signing in, or personal data
      other: anything else
    cue: "Subject: Question about"
    words:  # several words of one option add up
      delivery: [delivery, shipping]
      refund: [refund, return]
      account: [account, login]
      other: [product, other]

  # A level on a scale, from the worst to the best.
  satisfaction:
    type: score
    instructions: How satisfied is the customer?
    criteria:
      - angry or disappointed
      - neither pleased nor displeased
      - pleased
    cue: The sentiment is
    words: [angry, neutral, happy]

  # Yes or no, with or without a description of each.
  urgent:
    type: boolean
    instructions: Does the customer need an answer today?
    criteria:
      "true": a deadline, or harm from waiting
      "false": no hurry
    cue: This needs to be answered
    words:
      "true": urgent
      "false": standard

# How the model is read. All of it may be left out.
# options:
#   readout: words     # letters, digits, yes_no, words or sequence: what the model answers with
#   orders: 3          # list the options in several orders, and average
#   prior: content-free  # divide out how popular the options are on their own

# Which fields of a row mean what. Where absent: the first field with a usual name (text,
# message, ...) is judged, "id" names the row, and fields named like questions are labels.
# state: message
# id_field: id
# labels:
#   topic: topic
"""
