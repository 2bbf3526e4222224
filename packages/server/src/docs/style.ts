/** The style sheet of every page: one column on a phone, two with contents beside them on a desktop. */
export const style = `
:root {
  color-scheme: light dark;
  --paper: #fbfaf7; --raised: #ffffff; --ink: #22201c; --soft: #68635a; --line: #e4e0d6; --wash: #f2efe7;
  --accent: #a63f27; --accent-wash: #f8e9e3; --get: #1c6a4d; --get-wash: #e1f1e8; --post: #2d4f9e; --post-wash: #e5ebf9;
  --pilot: #80590c; --pilot-wash: #f8eccd; --slate: #23211d; --slate-line: #3a372f; --slate-ink: #ece8de; --slate-soft: #aaa497;
  --sans: ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  --top: 3.5rem;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #171613; --raised: #1e1c18; --ink: #ebe7dd; --soft: #a39d90; --line: #34312a; --wash: #25231e;
    --accent: #f0896c; --accent-wash: #3a231b; --get: #7fd1a9; --get-wash: #18352a; --post: #9db7f5; --post-wash: #212c4a;
    --pilot: #e6bf66; --pilot-wash: #3a2f16; --slate: #100f0d; --slate-line: #34312a; --slate-ink: #e4dfd3; --slate-soft: #989285;
  }
}
*, *::before, *::after { box-sizing: border-box; }
html { scroll-padding-top: calc(var(--top) + 1.5rem); -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 400 1rem/1.6 var(--sans); }
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: .18em; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 3px; border-radius: 3px; }
main:focus { outline: none; }
h1, h2, h3, h4 { line-height: 1.2; text-wrap: balance; margin: 0; }
h1 { font-size: clamp(2rem, 1.4rem + 2.4vw, 2.9rem); letter-spacing: -.03em; font-weight: 680; }
h2 { font-size: 1.6rem; letter-spacing: -.02em; font-weight: 660; }
h3 { font-size: 1.2rem; letter-spacing: -.01em; font-weight: 640; }
h4 { font-size: .8rem; font-weight: 640; color: var(--soft); margin: 1.75rem 0 .25rem; }
sup { line-height: 0; font-size: .72em; }
p { margin: .75rem 0; max-width: 68ch; text-wrap: pretty; }
h3 + p, .basics h2 + p { margin-top: .4rem; }
code, pre { font-family: var(--mono); font-size: .86em; }
p code, li code, td code, .note code { background: var(--wash); padding: .1em .35em; border-radius: 4px; overflow-wrap: anywhere; }
.skip { position: absolute; left: 1rem; top: -4rem; background: var(--raised); padding: .5rem 1rem; z-index: 3; }
.skip:focus { top: .5rem; }


.frame { display: grid; grid-template-columns: minmax(0, 1fr); max-width: 90rem; margin: 0 auto; }
.side { padding: 1rem clamp(1rem, 3vw, 2rem) 0; font-size: .9rem; }
.side details { border: 1px solid var(--line); border-radius: 8px; background: var(--raised); }
.side summary { cursor: pointer; padding: .7rem 1rem; font-weight: 600; }
.side ul { list-style: none; margin: 0; padding: 0; }
.side .contents { padding: 0 1rem 1rem; }
.side .contents > li { margin-top: 1rem; }
.side .contents > li > a { font-weight: 640; color: var(--ink); text-decoration: none; }
.side li li a { display: flex; gap: .6rem; align-items: baseline; padding: .28rem 0; color: var(--soft); text-decoration: none; line-height: 1.35; }
.side a:hover { color: var(--accent); }
.side .verb { font-family: var(--mono); font-size: .68rem; font-weight: 700; width: 2.6rem; flex: none; }
main { padding: 1.5rem clamp(1rem, 3vw, 2rem) 5rem; min-width: 0; }

.lede { font-size: 1.12rem; color: var(--soft); max-width: 58ch; }
.basics h2 { font-size: 1.02rem; letter-spacing: -.01em; margin-top: 1.75rem; }
.basics h2:first-child { margin-top: 0; }
.group { margin-top: 4rem; padding-top: 2rem; border-top: 1px solid var(--line); }
.entry { margin-top: 3rem; display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.25rem 2.5rem; }
.route { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem .7rem; margin: .6rem 0 0; max-width: none; }
.route .path { font-size: .93rem; background: none; padding: 0; overflow-wrap: anywhere; }
.verb-get { color: var(--get); } .verb-post { color: var(--post); } .verb-put, .verb-delete { color: var(--pilot); }
.chip { font: 700 .72rem/1 var(--mono); padding: .38em .6em; border-radius: 5px; }
.chip.verb-get { background: var(--get-wash); } .chip.verb-post { background: var(--post-wash); }
.chip.verb-put, .chip.verb-delete, .pilot { background: var(--pilot-wash); color: var(--pilot); }
.tag { font-size: .75rem; font-weight: 600; padding: .16em .65em; border-radius: 1em; }
.live { color: var(--get); background: var(--get-wash); }
.anchor { color: inherit; text-decoration: none; }
.anchor:hover::after, .anchor:focus-visible::after { content: " #"; color: var(--accent); }

.fields { width: 100%; border-collapse: collapse; font-size: .92rem; }
.fields th { text-align: left; font-weight: 400; }
.fields td, .fields th { padding: .7rem 1rem .7rem 0; border-top: 1px solid var(--line); vertical-align: top; }
.fields tr:last-child > * { border-bottom: 1px solid var(--line); }
.fields th[scope=row] { width: 38%; }
.fields .name { font-weight: 640; font-size: .86rem; overflow-wrap: anywhere; font-family: var(--mono); }
.fields .parent { color: var(--soft); font-weight: 400; }
.fields .kind { display: block; color: var(--soft); font-size: .82rem; margin-top: .15rem; }
.fields .required { color: var(--accent); font-weight: 600; }
.fields td { padding-right: 0; }
.fields td > :first-child { margin-top: 0; } .fields td > :last-child { margin-bottom: 0; }
.fields .rules { color: var(--soft); font-size: .85rem; overflow-wrap: anywhere; }
.codes { list-style: none; margin: .6rem 0 0; padding: 0; font-size: .9rem; }
.codes > li { display: grid; grid-template-columns: 3.2rem minmax(0, 1fr); padding: .55rem 0; border-top: 1px solid var(--line); }
.codes > li:last-child { border-bottom: 1px solid var(--line); }
.codes .status { font-family: var(--mono); font-size: .85rem; color: var(--soft); }
.codes .list { display: flex; flex-wrap: wrap; gap: .3rem .9rem; }
.codes .list a { font-family: var(--mono); font-size: .82rem; text-decoration: none; }
.codes .list a:hover { text-decoration: underline; text-underline-offset: .35em; }

.sample { margin: 0; background: var(--slate); color: var(--slate-ink); border: 1px solid var(--slate-line); border-radius: 10px; overflow: hidden; }
.sample figcaption { padding: .6rem 1rem; font-size: .78rem; color: var(--slate-soft); border-bottom: 1px solid var(--slate-line); }
.sample pre { margin: 0; padding: 1rem; overflow-x: auto; font-size: .82rem; line-height: 1.65; tab-size: 2; }
.aside { display: grid; gap: 1rem; align-content: start; min-width: 0; }
.note { background: var(--wash); border-radius: 10px; padding: .9rem 1.1rem; font-size: .92rem; }

.error { padding: .8rem 0; border-top: 1px solid var(--line); display: grid; gap: .1rem 1.5rem; align-items: baseline; }
.error dt { font-family: var(--mono); font-size: .88rem; font-weight: 640; overflow-wrap: anywhere; }
.error dd { margin: 0; color: var(--soft); }
.error:target { background: var(--accent-wash); box-shadow: -1rem 0 var(--accent-wash), 1rem 0 var(--accent-wash); }
dl { margin: 1rem 0 0; }

@media (max-width: 35rem) {
  .fields th[scope=row], .fields td, .fields th { display: block; width: auto; }
  .fields td { border-top: 0; padding-top: 0; }
  .fields tr:last-child > * { border-bottom: 0; }
  .fields { border-bottom: 1px solid var(--line); }
}
@media (min-width: 60rem) {
  .frame { grid-template-columns: 17rem minmax(0, 1fr); }
  .side { position: sticky; top: var(--top); height: calc(100vh - var(--top)); overflow-y: auto; padding: 1rem 1rem 2rem 2rem; border-right: 1px solid var(--line); }
  .side details { border: 0; background: none; }
  .side summary { display: none; }
  .side details::details-content { content-visibility: visible; block-size: auto; }
  .side .contents { padding: 0; }
  main { padding: 2.75rem clamp(2rem, 4vw, 4rem) 7rem; }
  .error { grid-template-columns: minmax(0, 17rem) minmax(0, 1fr); }
}
@media (min-width: 74rem) {
  .entry { grid-template-columns: minmax(0, 1fr) minmax(0, 25rem); }
  .aside { position: sticky; top: calc(var(--top) + 1.5rem); align-self: start; padding-top: .2rem; }
}
@media print { .side, .skip { display: none; } .frame { display: block; } }
`;
