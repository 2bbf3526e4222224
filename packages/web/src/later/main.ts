import { assessPq, callVerdict, takenBack, verifySession, witnessedText } from '@tallystick/core';
import { coverageOf } from '../coverage.ts';
import { timeOf } from '../documents.ts';
import { judgeForeign } from '../foreign/foreign.ts';
import { readLeaves } from '../leaves.ts';
import { createSessionDesk } from '../sessions/desk.ts';
import { addWitnesses, readPolicy } from '../witnesses.ts';
import { read } from './calls.ts';
import { chosenTime } from './chosen-time.ts';
import { fiveChecks } from './five-checks.ts';
import { kindOf } from './kind.ts';
import { refusesLarge } from './large.ts';

const made = {
  addWitnesses,
  assessPq,
  callVerdict,
  chosenTime,
  coverageOf,
  createSessionDesk,
  fiveChecks,
  judgeForeign,
  kindOf,
  read,
  readLeaves,
  readPolicy,
  refusesLarge,
  takenBack,
  timeOf,
  verifySession,
  witnessedText,
};
export type Later = typeof made;
globalThis.tallystickLater = made;
