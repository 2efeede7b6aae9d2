"""Presses the buttons of the example app: drive.py short|long BROWSER OUT. Ends with "N passed, N failed"."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

from browser import Browser

form, program, out = sys.argv[1:4]
os.makedirs(out, exist_ok=True)
widths = [400, 900, 1600]
passed = failed = 0


def check(what, good):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    print("ok    " if good else "FAILED", what, flush=True)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start_app(port, folder):
    code = f"shiny::runApp(system.file('shiny/refresh', package = 'gbt'), port = {port}, launch.browser = FALSE)"
    app = subprocess.Popen(["Rscript", "-e", code], start_new_session=True,
                           env={**os.environ, "GBT_REFRESH_FOLDER": folder, "GBT_REFRESH_ROUNDS": "1000"},
                           stdout=open(os.path.join(out, "app.txt"), "w"), stderr=subprocess.STDOUT)
    end = time.time() + 60
    while True:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}", timeout=5).read()
            return app
        except OSError:
            if time.time() > end or app.poll() is not None:
                raise RuntimeError("the app does not start: " + open(os.path.join(out, "app.txt")).read())
            time.sleep(0.1)


badge = "(document.querySelector('.gbt-badge') || {}).innerText"
words = "(document.getElementById('late-words') || {}).innerText || ''"
idle = "!document.documentElement.classList.contains('shiny-busy')"
fact = "(document.querySelector('#late-card dd') || {}).innerText"  # when the live model was trained
share = "Number((document.querySelector('.gbt-bar') || {getAttribute: () => 0}).getAttribute('aria-valuenow'))"


nodes = "Array.from(document.querySelectorAll('.gbt-refresh button, .gbt-refresh select, .gbt-bar, #late-card *'))"


def shoot(page, state):
    for width in widths:
        page.resize(width)
        time.sleep(0.6)  # Shiny draws plots anew half a second after the last change
        if state != "running":
            page.wait(idle, "the page is at rest")
        wide = page.value("document.documentElement.scrollWidth - window.innerWidth")
        check(f"{state}, {width} wide: nothing is cut off", wide <= 0)
        page.screenshot(os.path.join(out, f"{state}-{width}.png"))


def press(page, name):
    page.wait(f"document.getElementById('late-{name}') !== null", f"button {name}")
    page.value(f"document.getElementById('late-{name}').click()")


def deliver(page, kind):
    page.value(f"document.querySelector('input[name=delivery][value={kind}]').click()")
    page.wait(f"document.querySelector('input[name=delivery]:checked').value === '{kind}'", "delivery")
    time.sleep(0.2)


def reach(page, state):
    page.wait(f"{badge} === '{state}'", f"the state {state}")


def refresh(page, kind, state):
    deliver(page, kind)
    press(page, "refresh")
    page.wait(f"['training', '{state}'].includes({badge})", "training")  # which may be over at the next look
    reach(page, state)
    page.wait(idle, "the page is at rest")


def trained(page):
    return page.value(fact)


def go_through(page, other, first):
    before = trained(page)
    deliver(page, "good")
    press(page, "refresh")
    page.wait(f"{share} > 0", "the progress bar moves")
    if first:
        shoot(page, "running")
    reach(page, "promoted")
    page.wait(f"({words}).startsWith('Promoted')", "the reason")
    check("a good delivery is promoted", trained(page) != before)
    if first:
        page.wait(idle, "the page is at rest")
        shoot(page, "promoted")
    other.wait(f"{fact} === '{trained(page)}'", "the other session has the new model")
    check("the other session sees the new model", True)
    live = trained(page)
    refresh(page, "noise", "held back")
    check("a worse model is held back", trained(page) == live and page.value(words).startswith("Held back"))
    if first:
        shoot(page, "held_back")
    refresh(page, "damaged", "failed")
    check("what is wrong is said in words", "missing" in page.value(words) and
          page.value("document.querySelector('#late-words [role=alert]') !== null"))
    if first:
        shoot(page, "failed")
    deliver(page, "good")
    page.value("document.getElementById('late-refresh').focus(); window.before = " + nodes)
    press(page, "refresh")
    reach(page, "training")
    page.wait(f"{share} > 0", "the progress bar moves")
    check("training replaces no button, bar or list", page.value(f"{nodes}.every((e, i) => e === before[i])"))
    check("the keyboard focus stays", page.value("document.activeElement.id") == "late-refresh")
    press(page, "cancel")
    reach(page, "cancelled")
    check("a training that is cancelled changes nothing", trained(page) == live)
    if first:
        shoot(page, "cancelled")
    time.sleep(1.1)  # models are distinguished by the second in which they were trained
    deliver(page, "noise")
    press(page, "refresh")
    reach(page, "held back")
    press(page, "anyway")
    reach(page, "promoted")
    page.wait(f"{fact} !== '{live}'", "the model is taken all the same")
    page.wait("document.querySelector('#late-version option') !== null", "the history")
    press(page, "restore")
    reach(page, "restored")
    page.wait(f"{fact} === '{live}'", "the model of before")
    check("an earlier model comes back", True)


def buttons_have_names(page):
    return page.value("""Array.from(document.querySelectorAll('button, select, input')).every(e => e.innerText ||
      e.labels && e.labels.length || e.getAttribute('aria-label'))""")


def main():
    folder = tempfile.mkdtemp()
    port = free_port()
    app = browser = None
    try:
        app = start_app(port, os.path.join(folder, "live"))
        browser = Browser(program, os.path.join(folder, "browser"))
        url = f"http://127.0.0.1:{port}"
        other, page = browser.open(url), browser.open(url)
        for one in (page, other):
            reach(one, "ready")
        page.wait(idle, "the page is at rest")
        shoot(page, "idle")
        for i in range(10 if form == "long" else 1):
            go_through(page, other, i == 0)
        check("every control has a name", buttons_have_names(page))
        check("the plot has a text", "round" in (page.value("document.querySelector('#late-log img').alt") or ""))
        check("no script has failed", not page.faults and not other.faults)
    except (RuntimeError, OSError) as e:
        check(str(e), False)
    finally:
        if browser:
            browser.close()
        if app:
            os.killpg(app.pid, signal.SIGTERM)
            app.wait()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
