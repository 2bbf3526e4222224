import { callVerdict, verifySession } from '@tallystick/core';
import { createSessionDesk } from '../sessions/desk.ts';
import { partOf, read } from './calls.ts';

const made = { callVerdict, createSessionDesk, partOf, read, verifySession };
export type Later = typeof made;
globalThis.tallystickLater = made;
