import type { JSX } from 'preact';
import { Icon } from '../components/icon.tsx';
import { open } from '../frame/open.ts';
import { identity, nameOf, signOut } from './identity.ts';

/** Who is signed in. */
export function Who(): JSX.Element {
  const who = identity.value;
  if (who === null) {
    return (
      <button
        type="button"
        class="sign-in"
        onClick={() => {
          open.value = 'sign-in';
        }}
      >
        <Icon name="person" /> Sign in
      </button>
    );
  }
  const { kind, name } = nameOf(who);
  return (
    <div class="who">
      <div>
        <span>{kind}</span>
        <b title={who.way === 'did' ? who.agent.did : undefined}>{name}</b>
      </div>
      <button type="button" class="small" onClick={signOut}>
        Sign out
      </button>
    </div>
  );
}
