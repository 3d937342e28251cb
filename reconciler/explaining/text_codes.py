"""M1: what can be wrong with a text, whatever it declares."""

from __future__ import annotations

from typing import Final

from reconciler.explaining.explanation import Sample, diagnostic, manifest, slo

TEXT_CODES: Final = (
    diagnostic(
        "M101",
        "The file cannot be read as YAML 1.2, or as JSON where its name ends in `.json`. The place "
        "is where the parser could not go on; what is wrong often stands a little before it.",
        "Nothing of the file is read, so nothing of it is checked, planned or applied.",
        manifest(slo("description: Paid: or not")),
        manifest(slo('description: "Paid: or not"')),
    ),
    diagnostic(
        "M102",
        "One mapping has the same key twice. YAML forbids it, and parsers that take it keep one "
        "of the two, without a word of which.",
        "What a reviewer reads would not be what is applied.",
        manifest(slo("description: Orders are paid.", "description: Orders are sent.")),
        manifest(slo("description: Orders are paid and sent.")),
    ),
    diagnostic(
        "M103",
        "The key `<<` merges another mapping in older YAML. YAML 1.2 has no such key, and what it "
        "does differs from tool to tool.",
        "A field that comes from elsewhere has no place of its own for a complaint or a change.",
        manifest(slo("labels: {<<: {team: payments}}")),
        manifest(slo("description: Orders are paid.")),
    ),
    diagnostic(
        "M104",
        "A tag such as `!secret` or `!!str` asks the reader to make something else of a value. "
        "No tag is supported: each field has a type of its own.",
        "Tags can make readers run code, and mean something else in each tool.",
        manifest(slo("description: !secret note")),
        manifest(slo("description: ${secret:CHECKOUT_NOTE}")),
    ),
    diagnostic(
        "M105",
        "`.inf` and `.nan` are numbers of YAML that JSON cannot carry, and requests are JSON.",
        "The service would get something else, or nothing.",
        manifest(slo(target=".inf")),
        manifest(slo(target="99.9")),
    ),
    diagnostic(
        "M106",
        "A whole number beyond ±2^53. Many readers of JSON keep numbers as floats, which lose "
        "the last digits there.",
        "The service could store another number than was written. Text keeps all digits.",
        manifest(slo("labels: {account: 9007199254740993}")),
        manifest(slo('labels: {account: "9007199254740993"}')),
    ),
    diagnostic(
        "M107",
        "A key is a number, a boolean, nothing, a list or a mapping. Keys of JSON are text. "
        "A template such as `{{ name }}` without quotes is read as a mapping for a key.",
        "What the key becomes as text would be a guess.",
        manifest(slo("labels: {2024: yes}")),
        manifest(slo('labels: {"2024": "yes"}')),
    ),
    diagnostic(
        "M108",
        "An alias (`*name`) stands inside what it repeats, or there are so many that the document "
        "would grow without end.",
        "A small file could fill the memory of whoever reads it.",
        manifest("shared: &shared [*shared]\n"),
        manifest(slo()),
    ),
    diagnostic(
        "M109",
        "Lists and mappings stand in each other more than 64 levels deep.",
        "No resource needs it, and readers of other tools fail there.",
        manifest("deep: " + "[" * 65 + "]" * 65 + "\n"),
        manifest(slo()),
    ),
    diagnostic(
        "M110",
        "The file is larger than 8 MB, a line or a text longer than 1 MB, or one document has "
        "more values than a million.",
        "Such a file is no manifest but data that came here by mistake. `exclude:` in the "
        "project file keeps it out.",
        Sample(typed=("head -c 9000000 /dev/zero | tr '\\0' '#' > data.yaml",)),
        Sample(files={"reconciler.yaml": "exclude: [data.yaml]\n"}),
    ),
    diagnostic(
        "M111",
        "The file is not UTF-8, or holds a character that shows nothing or turns the text around: "
        "a control character, or one that changes the direction of writing.",
        "A reviewer would see another text than the service gets.",
        manifest(slo('description: "pay\\u202e"')),
        manifest(slo('description: "pay"')),
    ),
    diagnostic(
        "M112",
        "The file cannot be opened, or is a link that leads nowhere, to itself, or out of the "
        "project folder.",
        "A change could otherwise bring any file of the machine into what is printed or sent.",
        Sample(typed=("ln -s /etc/hostname checkout.yaml",)),
        manifest(slo()),
    ),
    diagnostic(
        "M113",
        "The file has no document in it, or is a JSON file that no manifest names. A file in "
        "which every line is a comment has no document either.",
        "Whoever wrote it may think that it declares something.",
        manifest("# later\n"),
        manifest(slo()),
    ),
    diagnostic(
        "M114",
        "A number begins with a zero. YAML 1.2 reads it as a decimal number, older readers as an "
        "octal one.",
        "`012` is 12 here and 10 elsewhere.",
        manifest(slo(target="012")),
        manifest(slo(target="12")),
    ),
    diagnostic(
        "M115",
        "One file has more than 1,000 mistakes, all environments have more than 100,000, or the "
        "files together hold more than a run reads. Or what they expand to is too large: items of "
        "`forEach`, variables and included files make at most 1,000,000 values and 64 MB of text "
        "in a run, all environments together.",
        "Repair the first of them: the rest is most often their echo. Or name the folder in "
        "`exclude:` of the project file, if it holds no manifests. Of what expands, use fewer "
        "items, or include smaller files.",
        Sample(typed=("yes 'a: 1' | head -n 3000 > checkout.yaml",)),
        manifest(slo()),
    ),
    diagnostic(
        "M116",
        "A comment `# reconciler: ignore[CODE] REASON` lacks its codes or its reason, or names a "
        "code that there is not, or one that cannot be ignored.",
        "A comment that ignores nothing looks as if it did, and one without a reason tells the "
        "next reader nothing.",
        manifest(slo("labels: {}  # reconciler: ignore")),
        manifest(slo("zebra: 1  # reconciler: ignore[M304] the next release takes it")),
        page="practice",
    ),
    diagnostic(
        "M117",
        "A comment ignores a complaint that its line does not have, in any environment.",
        "What it once ignored is mended, or stands on another line; left there, it would hide the "
        "next mistake of that sort.",
        manifest(slo("labels: {}  # reconciler: ignore[M304] the next release takes it")),
        manifest(slo("zebra: 1  # reconciler: ignore[M304] the next release takes it")),
        page="practice",
    ),
    diagnostic(
        "M118",
        "`fmt` found that the one layout would change what the file says, as where something in "
        "it is read otherwise than it looks. The file is left as it is.",
        "A layout that changes a meaning would be an edit that nobody asked for. Write what is odd "
        "in another way; here it is a second mark of byte order.",
        Sample(typed=("printf '\\357\\273\\277\\357\\273\\277kind:  SLO\\n' > checkout.yaml",)),
        Sample(typed=("printf 'kind:  SLO\\n' > checkout.yaml",)),
        command="fmt",
        page="fmt",
    ),
)
