import { callVerdict, verifySession } from '@tallystick/core';
import { judgeForeign } from '../foreign/foreign.ts';
import { createSessionDesk } from '../sessions/desk.ts';
import { read } from './calls.ts';
import { kindOf } from './kind.ts';

const made = { callVerdict, createSessionDesk, judgeForeign, kindOf, read, verifySession };
export type Later = typeof made;
globalThis.tallystickLater = made;
