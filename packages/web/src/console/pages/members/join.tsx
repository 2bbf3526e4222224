import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api.ts';
import { Dialog } from '../../components/dialog.tsx';
import { OtherProblem, TextField, useAction } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { Snippet } from '../../components/snippet.tsx';
import { identity } from '../../identity/identity.ts';
import type { Member } from './documents.ts';
import { tierName } from './tiers.tsx';

const PATH = '/v1/compute/member/register';

/** Registers a DID. */
export function Join({
  close,
  joined,
}: {
  readonly close: () => void;
  readonly joined: () => void;
}): JSX.Element {
  const who = identity.value;
  const [did, setDid] = useState(who?.way === 'did' ? who.agent.did : '');
  const [handle, setHandle] = useState('');
  const [member, setMember] = useState<Member | null>(null);
  const { busy, problem, run } = useAction();
  const body = { did: did.trim(), ...(handle.trim() === '' ? {} : { handle: handle.trim() }) };
  const register = async (): Promise<void> => {
    setMember(await api<Member>(PATH, { method: 'POST', body }));
    joined();
  };
  if (member !== null)
    return (
      <Dialog title="Registered" close={close}>
        <p class="done" role="status">
          <Icon name="done" /> {member.handle ?? member.did} is a member in the tier {tierName(member.tier)}.
        </p>
        <p>Send this header with each call, so that it counts:</p>
        <Snippet what="The header" text={`X-Agent-DID: ${member.did}`} />
        <div class="choices end">
          <button type="button" class="primary" onClick={close}>
            Done
          </button>
        </div>
      </Dialog>
    );
  const example = { did: body.did === '' ? 'did:key:…' : body.did, handle: body.handle ?? '…' };
  return (
    <Dialog title="Register a DID" close={close} wide>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void run(register);
        }}
      >
        <p>
          Registering is free, public and for good. It needs no proof of the DID; a DID that is registered
          already stays as it is. Calls count from then on, if they are paid by a key or by the DID itself;
          those of free models don’t.
        </p>
        <TextField
          name="did"
          label="DID"
          problem={problem}
          value={did}
          onValue={setDid}
          placeholder="did:key:z6Mk…"
          autoFocus
        />
        <TextField
          name="handle"
          label="Name, if it shall have one"
          help="3 to 32 lower-case letters and digits, with single hyphens between them."
          problem={problem}
          value={handle}
          onValue={setHandle}
          placeholder="quipu"
        />
        <OtherProblem of={problem} fields={['did', 'handle']} />
        <div class="choices end">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={busy || body.did === ''}>
            Register
          </button>
        </div>
      </form>
      <p class="fine">Programs do the same:</p>
      <Snippet
        what="The command"
        text={`curl ${location.origin}${PATH} -H 'Content-Type: application/json' -d '${JSON.stringify(example)}'`}
      />
    </Dialog>
  );
}
