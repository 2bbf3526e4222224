import { describe, expect, test } from 'vitest';
import { segmentsOf } from './segments.ts';

const kindsOf = (text: string): string[] => [...new Set(segmentsOf(text).map(({ kind }) => kind))];

const mail = `Return-Path: <ann@example.com>
Received: by 192.0.2.7 with SMTP id o3;
        Fri, 10 Jul 2015 13:12:34 -0700 (PDT)
From: Ann <ann@example.com>
To: Ben <ben@example.com>
Subject: Timetable
MIME-Version: 1.0
Content-Type: multipart/alternative;
        boundary="001a11c14ff5";
`;

const workflow = `name: build
on: { push: { branches: [main] } }
jobs:
  test:
    runs-on: \${{ matrix.os }}
    steps:
      - uses: checkout
      - name: Pack

        run: |
          OUT="\${{ env.DIR }}/package"
          mkdir -p "\${OUT}"
          NAME=\${{ needs.meta.name }}

      - name: Done
        if: success()
`;

const page = `<!DOCTYPE html>
<html><head>
<script>
function toggle(id) {
  hide(id);
}
</script>
</head>
<body>
<p>Boats leave at eight
and at ten, except on Sundays,
when there is none.
<p>Bicycles travel without a charge.
</body></html>
`;

/** What a program says of two boats: the same names again and again, with their values in a column. */
const described = ['Orca', 'Lynx']
  .map(
    (boat) =>
      `Name:         ${boat}\nBerth:        4\nLabels:       <none>\nStatus:       open\nCaptain:      Ann\nConditions:\n  Ready:  True\n`,
  )
  .join('\n');

describe('no code', () => {
  test.each([
    ['the header of a mail', mail, 'prose'],
    ['settings with scripts in YAML', workflow, 'prose'],
    [
      'indented settings',
      '[user]\n\tname = Ann\n\tmail = ann@example.com\n[core]\n\tpager = less\n',
      'prose',
    ],
    ['a page with a script', page, 'markup'],
    ['elements over two lines', '<port\n\tcode="A1"\tname="Sund" />\n'.repeat(4), 'markup'],
    [
      'a log with comments',
      '# match: { "time": 3 }\nDec 21 21:17:29 mail smtpd[71]: reject {a}\n'.repeat(4),
      'log',
    ],
    ['fields with their values in a column', described, 'prose'],
    ['a table whose lines end with a semicolon', 'id;name;berth;\n1;Orca;4;\n'.repeat(4), 'table'],
  ])('%s', (_name, text, kind) => {
    expect(kindsOf(text)).toStrictEqual([kind]);
  });
});

const intro = 'Boats leave at eight and at ten.\n\n';

describe('fences', () => {
  test.each([
    ['of printed text', `${intro}\`\`\`\n  -h, --help   Print usage.\n  -q           Be quiet.\n\`\`\`\n`],
    ['of settings in YAML', `${intro}\`\`\`yaml\n${workflow}\`\`\`\n`],
    ['of settings under names', `${intro}\`\`\`toml\n[port]\nboats = [8, 10]\nopen = true\n\`\`\`\n`],
    ['of a command', `${intro}\`\`\`sh\n$ boat --list | head\n\`\`\`\n`],
    ['that only underline a title', `Boats\n~~~~~\n\nThey leave at eight.\n\nBicycles\n~~~~~~~~\n\nFree.\n`],
  ])('%s are prose', (_name, text) => {
    expect(kindsOf(text)).toStrictEqual(['prose']);
  });

  test.each([
    ['in a language', '~~~js\nboats(8)\n~~~'],
    ['that look like a program', '```\nconst boats = list(8);\nshow(boats);\n```'],
    ['of a script', '```bash\nfor boat in *; do\n  echo "$boat";\ndone\n```'],
    ['of long commands', `\`\`\`bash\n${'install boats --quiet --all --now\n'.repeat(8)}\`\`\``],
    ['of a patch', '```\n--- a/boats\n+++ b/boats\n@@ -1 +1 @@\n-eight\n+nine\n```'],
    ['of JSON', '```\n{ "boats": [8, 10] }\n```'],
  ])('%s are code', (_name, fence) => {
    expect(kindsOf(`${intro}${fence}\n`)).toStrictEqual(['prose', 'code']);
  });
});

test('a dialogue whose words stand in a column is one', () => {
  const hearing = 'Q:       When does the boat leave?\nA:       At eight.\nCOURT:   Go on.\n'.repeat(4);
  expect(kindsOf(hearing)).toStrictEqual(['dialogue']);
});

describe('code', () => {
  test.each([
    [
      'elements in a program',
      'export function App() {\n  return (\n    <div>\n      <p>Hello</p>\n    </div>\n  );\n}\n',
    ],
    [
      'fields of a class',
      'from dataclasses import dataclass\n@dataclass\nclass Port:\n    name: str = ""\n    size: int = 0\n    def area(self) -> int:\n        return self.size * 2\n',
    ],
    ['members of a type', 'interface Port {\n  name: string;\n  size: number;\n  open: boolean;\n}\n'],
  ])('%s', (_name, text) => {
    expect(kindsOf(text)).toStrictEqual(['code']);
  });
});

const traces: Readonly<Record<string, string>> = {
  Go: 'goroutine 7 [running]:\nmain.open(0xc000012, 0x4)\n\t/srv/boats/open.go:41 +0x1d\nmain.main()\n\t/srv/boats/main.go:9 +0x2b\n',
  Python:
    'Traceback (most recent call last):\n  File "/srv/boats.py", line 9, in open\n    return port.open(boat)\n  File "/srv/port.py", line 4, in open\n    self.check(boat)\nValueError: closed\n',
  Java: 'java.lang.IllegalStateException: closed\n\tat port.Boats.open(Boats.java:41)\n\tat port.Main.main(Main.java:9)\nCaused by: java.io.IOException: lost\n\t... 2 more\n',
  Rust: "thread 'main' panicked at src/main.rs:4:5:\n   0: std::panicking::begin()\n             at ./src/panicking.rs:40:5\n   1: boats::open()\n             at ./src/main.rs:4:5\n",
};
const outputs: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(traces).map(([name, text]) => [`a trace of ${name}`, text])),
  'tests of Go':
    '=== RUN   TestOpen\n--- PASS: TestOpen (0.01s)\n=== RUN   TestShut\n--- FAIL: TestShut (0.02s)\n',
  'lines of a program with a place that is pointed at':
    '  ● port › opens\n\n      10 |   const port = openPort(8);\n      11 |   const boats = port.list();\n    > 12 |   expect(boats.length).toBe(4);\n         |                        ^\n      13 | });\n      14 |\n',
  'a TAP stream': 'ok 1 - open(boat)\nnot ok 2 - shut(boat)\nok 3 - sink(boat)\n1..3\n',
  'tests of pytest':
    'tests/test_boats.py::test_open(1) PASSED\ntests/test_boats.py::test_open(2) FAILED\ntests/test_boats.py::test_shut(1) PASSED\n',
  'a terminal': `$ boat --list\n${'orca(1);\n'.repeat(2)}${'lynx is at the berth, and leaves at eight\n'.repeat(10)}$ boat --quit\n`,
};

describe('printed output is no code', () => {
  test.each(Object.entries(outputs))('%s', (_name, text) => {
    for (const written of [
      `${intro}\`\`\`\n${text}\`\`\`\n`,
      `${intro}\`\`\`console\n${text}\`\`\`\n`,
      `${intro}::\n\n    ${text.trimEnd().replaceAll('\n', '\n    ')}\n\n${intro}`,
    ])
      expect(kindsOf(written)).not.toContain('code');
  });

  test('the header of a part of a mail', () => {
    const part = 'Content-Type: text/plain;\n charset="utf-8";\n format=flowed\n\nBoats leave at eight.\n\n';
    expect(kindsOf(`${intro}${part}${part}`)).toStrictEqual(['prose']);
  });
});
