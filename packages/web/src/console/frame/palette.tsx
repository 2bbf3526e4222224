import { receiptIdPattern } from '@tallystick/core';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Dialog } from '../components/dialog.tsx';
import { identity, signOut } from '../identity/identity.ts';
import { pages, shownNavigation } from '../pages.ts';
import { go, pageAt } from '../router.ts';
import { switchTheme } from '../theme.ts';
import { close, open } from './open.ts';

interface Command {
  readonly title: string;
  readonly group: string;
  readonly act: () => void;
}

/** Finds pages and things to do by typing. Arrows choose, Enter does it. */
export function Palette(): JSX.Element {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const found = commandsFor(text.trim());
  const at = Math.min(chosen, found.length - 1);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => list.current?.children[at]?.scrollIntoView({ block: 'nearest' }), [at]);
  const run = (command: Command | undefined): void => {
    close();
    command?.act();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined) {
      event.preventDefault();
      setChosen((at + by + found.length) % Math.max(found.length, 1));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      run(found[at]);
    }
  };
  return (
    <Dialog title="Go to a page, or do something" close={close} bare>
      <div class="palette">
        <input
          role="combobox"
          autoFocus
          aria-label="Go to a page, or do something"
          aria-expanded="true"
          aria-controls="commands"
          aria-activedescendant={found.length === 0 ? undefined : `command-${at}`}
          placeholder="Go to a page, or paste a receipt id"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            setChosen(0);
          }}
          onKeyDown={onKeyDown}
        />
        <ul ref={list} id="commands" role="listbox" aria-label="Commands" tabIndex={-1}>
          {found.map((command, index) => (
            <li
              key={command.title}
              id={`command-${index}`}
              role="option"
              aria-selected={index === at}
              onMouseMove={() => setChosen(index)}
              onClick={() => run(command)}
            >
              {command.title}
              <span>{command.group}</span>
            </li>
          ))}
        </ul>
        {found.length === 0 && <p class="none">Nothing has this name.</p>}
      </div>
    </Dialog>
  );
}

function commandsFor(text: string): Command[] {
  const all: Command[] = [
    ...shownNavigation().flatMap(({ title: group, entries }) =>
      entries.map(({ title, path }) => ({ title, group, act: () => visit(path) })),
    ),
    { title: 'Switch between light and dark', group: 'Look', act: switchTheme },
    { title: 'Keyboard shortcuts', group: 'Help', act: () => void (open.value = 'help') },
    identity.value === null
      ? { title: 'Sign in', group: 'Account', act: () => void (open.value = 'sign-in') }
      : { title: 'Sign out', group: 'Account', act: signOut },
  ];
  if (receiptIdPattern.test(text)) {
    return [{ title: `Receipt ${text}`, group: 'Verify', act: () => visit(`/receipts#${text}`) }];
  }
  const words = text.toLowerCase().split(/\s+/);
  return all.filter(({ title, group }) => {
    const name = `${group} ${title}`.toLowerCase();
    return words.every((word) => name.includes(word));
  });
}

function visit(to: string): void {
  if (pageAt(pages, new URL(to, location.href).pathname) === null) location.assign(to);
  else go(to);
}
