"""What the sample feeds tell: invented news, dated relative to the present, so that a demonstration is always fresh.

Among them, on purpose: one article that two feeds carry under the same link, two events that two outlets tell in their
own words, a story without a date, a story without a text, and two that are older than a digest looks back.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["HARBOUR", "MERIDIAN", "OPENBENCH", "SIGNAL", "SampleStory"]


@dataclass(frozen=True, slots=True)
class SampleStory:
    """A story of a sample feed; ``hours_ago`` is None for one that the feed does not date."""

    title: str
    link: str
    hours_ago: float | None
    text: str
    """The summary, as HTML where the dialect allows it."""


MERIDIAN = (
    SampleStory(
        "Lakeside hospitals publish their triage model for anyone to use",
        "https://meridian.example.com/health/lakeside-triage-model",
        3.0,
        "<p>The Lakeside hospital group has released the artificial intelligence model that sorts patients in its nine "
        "emergency departments. In a trial with 41,000 visits it cut the median wait for urgent cases from 38 to 29 "
        "minutes, and nurses overruled it in 6 percent of cases.</p><p>Weights, training code and the audit are under "
        "an open licence.</p>",
    ),
    SampleStory(
        "Regulator asks four AI firms to show how they test their models",
        "https://meridian.example.com/technology/regulator-ai-testing",
        7.5,
        "<p>The Northern Communications Authority has given four makers of large language models until 30 days from "
        "now to hand over their safety test plans. It is the first use of a power that parliament granted in spring; "
        "fines reach 2 percent of turnover.</p>",
    ),
    SampleStory(
        "Tram line 9 opens eleven months early",
        "https://meridian.example.com/city/tram-line-9",
        9.0,
        "<p>The first trams on the 14-kilometre line between the harbour and the university carried passengers this "
        "morning. The city paid 412 million crowns, 3 percent below the estimate, and expects 60,000 riders a day.</p>",
    ),
    SampleStory(
        "Battery plant at Oster restarts after fire",
        "https://meridian.example.com/business/oster-battery-plant",
        14.0,
        "<p>Production at the Oster battery plant is running again on two of three lines, nine weeks after a fire in "
        "the drying hall. The owner, Voltara, keeps its target of 1.1 million cells for the year.</p>",
    ),
    SampleStory(
        "Libraries lend out solar chargers and repair kits",
        "https://meridian.example.com/city/library-of-things",
        21.0,
        "<p>Twelve branch libraries now lend tools as well as books. The most wanted items in the trial were a sewing "
        "machine, a soldering station and a folding solar panel; 97 percent came back on time.</p>",
    ),
    SampleStory(
        "Open-source weather model beats national service on rain",
        "https://meridian.example.com/science/openrain-forecast",
        26.0,
        "<p>A forecast model that volunteers train on public radar data predicted heavy rain more often correctly than "
        "the national service over the last six months, 71 against 64 percent. The group behind OpenRain says it runs "
        "on a single workstation.</p>",
    ),
    SampleStory(
        "Night trains to the coast are fully booked until spring",
        "https://meridian.example.com/travel/night-trains",
        None,
        "<p>The operator of the two coastal night trains has sold every berth up to the end of March and looks for "
        "eight more sleeping cars on the used market.</p>",
    ),
    SampleStory(
        "Council keeps the old gasworks as a concert hall",
        "https://meridian.example.com/city/gasworks-hall",
        75.0,
        "<p>After four years of debate the council has voted 31 to 22 to turn the gasworks into a hall for 1,800 "
        "people.</p>",
    ),
)

OPENBENCH = (
    SampleStory(
        "Kestrel 4.0 makes replication the default",
        "https://openbench.example.org/2/kestrel-4-0",
        2.0,
        "Version 4.0 of the open source database Kestrel replicates every new cluster to three nodes unless told "
        "otherwise. The project reports 18 percent more writes per second than 3.9 in its own benchmark and drops "
        "support for 32-bit systems. Upgrades from 3.7 and later work in place.",
    ),
    SampleStory(
        "Foundation pays nine maintainers of tools that nobody sees",
        "https://openbench.example.org/2/keystone-grants",
        5.0,
        "The Keystone Foundation gives 1.4 million euros to nine maintainers of open source libraries that sit below "
        "thousands of programs: parsers, time zone data, build tools. Each grant runs for two years and asks for no "
        "new features, only for releases, reviews and a successor.",
    ),
    SampleStory(
        "Tern, a build tool for mixed projects, reaches 1.0",
        "https://openbench.example.org/2/tern-1-0",
        11.0,
        "Tern builds projects that mix Python, Rust and C from one description and caches every step by content. With "
        "1.0 the file format is frozen; in the authors' example a repeated build of 2.3 million lines takes 4 seconds "
        "instead of 90.",
    ),
    SampleStory(
        "Lantern editor gets a debugger that steps backwards",
        "https://openbench.example.org/2/lantern-reverse-debugging",
        16.5,
        "The free code editor Lantern records a program's run and lets developers step back to the line where a value "
        "changed. The feature works for Python and Go on Linux; recording slows a program down by a factor of about "
        "two.",
    ),
    SampleStory(
        "Flaw in Parcelle archive library lets files escape their folder",
        "https://openbench.example.org/2/parcelle-path-flaw",
        19.0,
        "All versions of the Parcelle archive library before 2.8.1 can be made to write outside the target folder by a "
        "crafted archive. About 3,400 packages depend on it. The fix is one line; the maintainers thank a student who "
        "reported it in October.",
    ),
    SampleStory(
        "Mirror network for open source releases passes 500 hosts",
        "https://openbench.example.org/2/mirrors-500",
        29.0,
        "Universities and small providers now carry 512 mirrors of common open source projects, twice as many as two "
        "years ago. Together they serve 38 terabytes a day.",
    ),
    SampleStory(
        "Release notes: Pinfold 0.9.2",
        "https://openbench.example.org/2/pinfold-0-9-2",
        33.0,
        "",
    ),
    SampleStory(
        "How the Marram project halved its test time",
        "https://openbench.example.org/2/marram-tests",
        98.0,
        "By sorting tests by how often they fail and stopping early, Marram's developers see a broken change after "
        "four minutes instead of nine.",
    ),
)

SIGNAL = (
    SampleStory(
        "Nine emergency rooms, one open model: Lakeside shares its AI for sorting patients",
        "https://signal.example.net/p/lakeside-open-triage",
        2.5,
        "<p>Lakeside, a group of hospitals, has put its triage model online with weights and code. A trial over 41,000 "
        "visits shortened the median wait of urgent patients by nine minutes. An outside audit found no difference "
        "between age groups, and a slightly higher error rate for patients without a record.</p>",
    ),
    SampleStory(
        "Small language models close in on big ones for code review",
        "https://signal.example.net/p/small-models-review",
        6.0,
        "<p>Researchers at the Polder Institute compared 14 language models on 2,000 code reviews. Models with 8 "
        "billion parameters found 81 percent of the defects that the largest found, at a fortieth of the cost. All of "
        "them missed faults that span more than one file.</p>",
    ),
    SampleStory(
        "Kestrel database ships 4.0 with three copies of everything",
        "https://signal.example.net/p/kestrel-four",
        4.0,
        "<p>The open source database Kestrel has reached version 4.0. New clusters keep three copies of all data from "
        "the start, and 32-bit machines are no longer supported. Administrators can upgrade in place from 3.7.</p>",
    ),
    SampleStory(
        "Open-source weather model beats national service on rain",
        "https://meridian.example.com/science/openrain-forecast?utm_source=signal&utm_medium=feed",
        24.0,
        "<p>From our neighbours at The Meridian: the volunteer project OpenRain was right about heavy rain in 71 "
        "percent of cases.</p>",
    ),
    SampleStory(
        "Speech model learns a language with 900 speakers",
        "https://signal.example.net/p/speech-model-ruvi",
        13.0,
        "<p>With 22 hours of recordings from village elders, a team has trained an artificial intelligence that writes "
        "down spoken Ruvi with an error in every ninth word. The recordings stay with the community, which decides who "
        "may use the model.</p>",
    ),
    SampleStory(
        "Chip maker Arbor shows a processor that runs AI on two watts",
        "https://signal.example.net/p/arbor-two-watts",
        17.0,
        "<p>Arbor's new processor answers with a model of three billion parameters at 20 words a second and draws two "
        "watts. Boards for developers cost 89 euros and ship in March.</p>",
    ),
    SampleStory(
        "What 600 teachers say about artificial intelligence in class",
        "https://signal.example.net/p/teachers-survey",
        31.0,
        "<p>Two thirds of 600 teachers in a survey use artificial intelligence to prepare lessons, and one in eight to "
        "grade. Most asked for time to try it out, not for more tools.</p>",
    ),
)

HARBOUR = (
    SampleStory(
        "Seagrass returns to the inner bay after sixty years",
        "https://harbour.example.org/nature/seagrass",
        4.5,
        "Divers have counted 1,900 square metres of seagrass in the inner bay, the first since the 1960s. Biologists "
        "credit the new sewage works and a ban on anchoring.",
    ),
    SampleStory(
        "Probe Halcyon sends first pictures of Ceres' bright spots",
        "https://harbour.example.org/science/halcyon-ceres",
        8.0,
        "The space probe Halcyon has sent 14 pictures from 310 kilometres above the dwarf planet Ceres. They show salt "
        "deposits at three metres per pixel, ten times sharper than before. Landing is planned for autumn of next "
        "year.",
    ),
    SampleStory(
        "Ferries switch to methanol on three routes",
        "https://harbour.example.org/shipping/methanol-ferries",
        12.0,
        "From January the ferries to the three nearest islands run on methanol made from wood waste. Fares rise by 2 "
        "percent; the operator expects 11,000 tonnes less carbon dioxide a year.",
    ),
    SampleStory(
        "Council puts its planning software under an open source licence",
        "https://harbour.example.org/council/open-planning-software",
        18.0,
        "The program with which the harbour council handles building permits is now open source. Six other towns plan "
        "to use it; the council saves 240,000 euros a year in licence fees.",
    ),
    SampleStory(
        "Fish market auctions online for the first time",
        "https://harbour.example.org/trade/fish-market-online",
        36.0,
        "Buyers from five countries bid for 18 tonnes of cod and haddock without standing in the hall. Prices were 4 "
        "percent above those of last week.",
    ),
)
