// @ts-check
/**
 * Runs the four recipes with Node's test runner. Other runners pass their own `describe` and `it`.
 * After `npm run build`: `node --test examples/testing/node-test.js`
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import * as stream from './recorded-calls.js'
import * as policy from './retry-policy.js'
import * as store from './store.js'
import * as handler from './webhook-handler.js'

for (const { run } of [store, policy, handler, stream]) run({ describe, it, fc, assert })

/**
 * The test runner and libraries that a recipe receives.
 *
 * @typedef {object} Tools
 * @property {(name: string, body: () => void) => unknown} describe
 * @property {(name: string, body: () => void | Promise<void>) => unknown} it
 * @property {import('hookswitch/simulator').Fc} fc
 * @property {Assert} assert
 *
 * @typedef {object} Assert
 * @property {(actual: unknown, expected: unknown, message?: string) => void} equal
 * @property {(actual: unknown, expected: unknown, message?: string) => void} deepEqual
 * @property {(work: () => unknown, expected: object) => void} throws
 */
