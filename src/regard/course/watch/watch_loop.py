"""The loop of watch mode: a save or a key, a verdict, a picture."""

import signal
from types import FrameType

from regard.course.catalogue import ExerciseEntry, entries
from regard.course.session import Session
from regard.course.verdict import Verdict
from regard.course.verdict_text import fold_code, headline_lines, list_lines, progress_line, verdict_lines
from regard.course.waiting import bar
from regard.course.watch.key_presses import REDRAW, Keys
from regard.course.watch.saved_files import Files
from regard.course.watch.watch_screen import Screen, markdown_lines
from regard.text.input_error import InputError

POLL_SECONDS = 0.1
HELP = [
    "Save an exercise.py in your editor and it is graded. Keys:",
    "  h  the next hint            t  the exercise's text",
    "  n  next exercise            p  previous exercise",
    "  l  list; a number + Enter goes there",
    "  s  our solution, a  the answers to Try this, once yours has passed",
    "  space  the next page of a long text, b  the page before",
    "  r  put the starter back     Enter  grade again",
    "  q  quit; `regard learn` goes on where you were",
]


def watch(session: Session, keys: Keys, screen: Screen) -> None:
    """Until the learner quits or the input ends."""
    watcher = Watcher(session, keys, screen)
    resized = signal.signal(signal.SIGWINCH, watcher.resized)
    try:
        with keys:
            watcher.run()
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGWINCH, resized)
        session.close()
    screen.say("Your progress is kept. `regard learn` goes on here.")


class Watcher:
    """The content of the screen, and the effect of each key."""

    def __init__(self, session: Session, keys: Keys, screen: Screen) -> None:
        self.session, self.keys, self.screen = session, keys, screen
        self.files = Files(session.folder)
        self.verdict: Verdict | None = None
        self.below: list[str] = []
        """A hint, the list, a solution: shown under the verdict until something else happens."""
        self.text = False
        self.top = 0
        """The first line that is shown of a text that is longer than the screen."""
        self.room = 0
        """How many lines of it were shown last."""
        self.digits = ""
        self.question = ""
        self.stale = False
        self.quitting = False

    def run(self) -> None:
        self.grade()
        while not self.quitting:
            key = self.keys.read(POLL_SECONDS)
            if key is not None:
                self.press(key)
            else:
                saved = self.files.changed()
                if saved is not None:
                    self.saved(saved)
            if self.stale:
                self.draw()

    def resized(self, number: int, frame: FrameType | None) -> None:
        self.stale = True

    def saved(self, entry: ExerciseEntry) -> None:
        """Saving another exercise makes it the current one."""
        if entry != self.session.current:
            self.session.choose(entry)
        self.grade()

    def grade(self) -> None:
        """Show progress, grade, show the verdict; the key q or another save interrupts."""
        self.below, self.text, self.top = [], False, 0
        self.grade_once()
        while not self.quitting and (saved := self.files.changed()) is not None:
            if saved != self.session.current:
                self.session.choose(saved)
            self.grade_once()
        if not self.quitting:
            self.draw()
            self.session.prepare()

    def grade_once(self) -> None:
        entry = self.session.current
        if self.screen.terminal:
            self.screen.draw([*self.title(entry), "", "  grading …"])
        self.verdict = self.session.grade(entry, self.interrupted, self.waiting)

    def waiting(self, what: str, done: int, total: int) -> None:
        """The check does something slow of its own."""
        if self.screen.terminal:
            self.screen.draw([*self.title(self.session.current), "", "  " + bar(what, done, total, self.screen.width)])

    def interrupted(self) -> bool:
        """Whether the learner quit, or saved again, during the grading."""
        self.quitting = self.quitting or self.keys.quits()
        entry = self.session.current
        return self.quitting or self.files.seen[entry] != self.files.look(entry)

    def draw(self) -> None:
        self.stale = False
        entry, paint, width = self.session.current, self.screen.paint, self.screen.width
        lines = [*self.title(entry), ""]
        if self.text or (self.verdict is not None and self.verdict.status == "unfinished" and not self.below):
            lines += [*markdown_lines(entry.readme, paint, width)[2:], ""]
        if self.verdict is not None and not self.text:
            lines += [*verdict_lines(entry, self.verdict, paint, width), ""]
        for note in self.session.notes:
            lines.append(paint(f"note: {note}", "yellow"))
        if self.below:  # a requested text comes first: it must not be below the first page
            lines = [*self.title(entry), "", *self.below, "", *lines[len(self.title(entry)) + 1 :]]
        below = [progress_line(self.session.progress, paint, width), self.offers()]
        if self.screen.height is not None and len(lines) + len(below) >= self.screen.height:
            if self.verdict is not None:
                below = [*headline_lines(self.verdict, paint, width), *below]
            head = self.title(entry)
            lines = [*head, *self.one_page(lines[len(head) :], len(head) + len(below) + 2)]
        self.screen.draw([*lines, *below])

    def one_page(self, lines: list[str], taken: int) -> list[str]:
        """As many lines as fit above what is always there, and a line that says where we are."""
        assert self.screen.height is not None
        room = self.room = max(4, self.screen.height - taken)
        last = max(0, len(lines) - room)
        self.top = min(self.top, last)
        where = f"{self.top + 1}–{min(self.top + room, len(lines))} of {len(lines)}"
        keys = "space: next page" if self.top < last else "b: page before"
        return [*lines[self.top : self.top + room], self.screen.paint(f"-- {where} -- {keys} --", "yellow")]

    def turn(self, by: int) -> None:
        """To the next page, or the one before."""
        self.top = max(0, self.top + by * self.room)
        self.draw()

    def next_page(self) -> None:
        self.turn(1)

    def page_before(self) -> None:
        self.turn(-1)

    def title(self, entry: ExerciseEntry) -> list[str]:
        """Which exercise and which file: one line, or two where one is too narrow."""
        number = f"Exercise {entry.number} of {len(entries())} · {entry.title}"
        shown, path = self.screen.paint(number, "bold"), str(self.session.folder.file(entry))
        return [f"{shown}   {path}"] if len(number) + 3 + len(path) < self.screen.width else [shown, path]

    def offers(self) -> str:
        """The keys that make sense now."""
        passed = self.session.current.name in self.session.progress.passed
        first = "n next · s solution · a answers" if passed else "h hint · t text"
        return self.screen.paint(f"{first} · l list · ? help · q quit", "faint")

    def press(self, key: str) -> None:
        """One key."""
        if self.question:
            self.answer(key)
        elif key.isdigit():
            self.digits += key
        elif key == "\n" and self.digits:
            wanted, self.digits = int(self.digits), ""
            self.go(wanted)
        elif key in ACTIONS:
            self.digits = ""
            ACTIONS[key](self)

    def answer(self, key: str) -> None:
        question, self.question = self.question, ""
        if question == "reset" and key == "y":
            done = self.session.reset(self.session.current)
            self.files.forget(self.session.current)
            self.grade()
            self.show([done])
        else:
            self.show([])

    def go(self, number: int) -> None:
        found = [entry for entry in entries() if entry.number == number]
        if not found:
            self.show([f"There is no exercise {number}: they go from 1 to {len(entries())}."])
            return
        self.session.choose(found[0])
        self.grade()

    def show(self, lines: list[str]) -> None:
        self.below = lines
        self.text = False
        self.top = 0
        self.draw()

    def hint(self) -> None:
        hint = self.session.hint(self.session.current)
        self.show(markdown_lines(hint, self.screen.paint, self.screen.width))

    def list(self) -> None:
        self.show([*list_lines(self.session.progress, self.screen.paint), "", "A number and Enter goes there."])

    def next(self) -> None:
        entry = self.session.next()
        passed = self.session.current.name in self.session.progress.passed
        if entry is None:
            praise = " You have written attention." if self.session.current.ours else ""
            self.show([self.screen.paint(f"All {len(entries())} exercises pass.{praise}", "green")])
        elif not passed:
            self.move(1)
        else:
            self.go(entry.number)

    def previous(self) -> None:
        self.move(-1)

    def move(self, by: int) -> None:
        place = entries().index(self.session.current) + by
        self.go(entries()[min(max(place, 0), len(entries()) - 1)].number)

    def solution(self) -> None:
        try:
            solution = self.session.solution(self.session.current)
        except InputError as error:
            self.show([f"{str(error)[0].upper()}{str(error)[1:]}."])
            return
        code = [folded for line in solution.splitlines() for folded in fold_code(line, self.screen.width)]
        self.show(["Our solution (yours need not look like it):", "", *code])

    def answers(self) -> None:
        try:
            text = self.session.answers(self.session.current)
        except InputError as error:
            self.show([f"{str(error)[0].upper()}{str(error)[1:]}."])
            return
        self.show(markdown_lines(text, self.screen.paint, self.screen.width))

    def reset(self) -> None:
        self.question = "reset"
        self.below = ["Put the starter back? Your version is kept beside it. Press y, or any other key to go on."]
        self.draw()

    def page(self) -> None:
        self.text, self.below, self.top = True, [], 0
        self.draw()

    def help(self) -> None:
        self.show(HELP)

    def quit(self) -> None:
        self.quitting = True


ACTIONS = {
    "h": Watcher.hint,
    "l": Watcher.list,
    "n": Watcher.next,
    "p": Watcher.previous,
    "s": Watcher.solution,
    "a": Watcher.answers,
    " ": Watcher.next_page,
    "b": Watcher.page_before,
    "r": Watcher.reset,
    "t": Watcher.page,
    "?": Watcher.help,
    "q": Watcher.quit,
    "\n": Watcher.grade,
    REDRAW: Watcher.draw,
}
