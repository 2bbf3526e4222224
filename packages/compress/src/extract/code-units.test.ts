import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyDocument, code } from '../../test/documents.ts';
import { codeUnits } from './code-units.ts';

const found = (text: string): [name: string | undefined, text: string][] =>
  codeUnits(text).map(({ code: name, start, end }) => [name, text.slice(start, end)]);
const named = (text: string): (string | undefined)[] =>
  found(text).flatMap(([name]) => (name === '' ? [] : [name]));

test('the units of any text are the whole text', () => {
  fc.assert(
    fc.property(fc.oneof(anyDocument, code), (text) => {
      expect(
        found(text)
          .map(([, own]) => own)
          .join(''),
      ).toBe(text);
    }),
    { numRuns: 300 },
  );
});

const languages: Readonly<Record<string, readonly [text: string, names: readonly string[]]>> = {
  TypeScript: [
    `import { a } from 'a';

/** Adds "{". */
export async function add(
  one: number,
): Promise<number> {
  if (one > 1) {
    return one + a('}');
  }
  return \`
function not() {
\`.length;
}
const twice = (n: number): number => n * 2;
export const thrice = async (n) => {
  return n * 3;
};
`,
    ['add', 'twice', 'thrice'],
  ],
  Python: [
    `import os

@cache
def one(path):
    """
def not_this():
    """
    return os.stat(path,
  follow=True)

# Says more.
async def two():
    try:
        pass
    except OSError:
        return 1

class Small:
    def inside(self): pass
`,
    ['one', 'two', 'Small'],
  ],
  C: [
    `#include <stdio.h>

static int
count(const char *s)
{
    return s[0] == '{';
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        puts("}");
    }
    return 0;
}
`,
    ['main'],
  ],
  Go: [
    `package main

// Read reads.
func (r *Reader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 0
	}
	return 0, nil
}

func main() {
	run()
}
`,
    ['Read', 'main'],
  ],
  Rust: [
    `use std::fmt;

impl<'a> Name<'a> {
    pub fn of(x: &'a str) -> Self {
        Name(x)
    }
}

fn main() {
    println!("{");
}
`,
    ['Name', 'main'],
  ],
  Ruby: [
    `require 'set'

def first(x)
  x.each do |y|
    puts y
  end
end

def second
  2
end
`,
    ['first', 'second'],
  ],
  Java: [
    `package a;

public class A {
    private int n = 0;

    @Override
    public String toString() {
        return "" + n;
    }
${'    // A long comment that makes the class too long for one unit.\n'.repeat(14)}
    static List<String> all(Map<String, Integer> of) throws IOException {
        return List.of();
    }
}
`,
    ['toString', 'all'],
  ],
  SQL: [
    `CREATE TABLE orders (
  id integer,
  name text
);

CREATE OR REPLACE FUNCTION total() RETURNS integer AS $$
  SELECT 1;
$$ LANGUAGE sql;
`,
    ['orders', 'total'],
  ],
  shell: [
    `#!/bin/sh
set -e

build() {
  echo "{"
}

build
`,
    ['build'],
  ],
};

test.each(Object.entries(languages))('functions of %s', (_name, [text, names]) => {
  expect(named(text)).toStrictEqual(names);
});

test('a function is whole, with the comment or decorator above it', () => {
  const [, [, python] = []] = found(languages['Python']![0]);
  expect(python).toMatch(/^@cache[^]*follow=True\)\n\n$/);
  const go = found(languages['Go']![0]).find(([name]) => name === 'Read')?.[1];
  expect(go).toMatch(/^\/\/ Read reads[^]*nil\n}\n\n$/);
});

test('numbered lines are read without their numbers', () => {
  const numbered = languages['Go']![0].replaceAll(/^/gm, () => '   12\t');
  expect(named(numbered)).toStrictEqual(['Read', 'main']);
});
