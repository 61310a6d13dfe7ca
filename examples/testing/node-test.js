// @ts-check
/**
 * The four recipes under `node --test`. With vitest, hand over its `describe` and `it` instead: the recipes know no
 * test runner.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import * as stream from './a-recorded-stream.js'
import * as policy from './a-retry-policy.js'
import * as store from './a-store.js'
import * as handler from './a-webhook-handler.js'

for (const { run } of [store, policy, handler, stream]) run({ describe, it, fc, assert })

/**
 * What a recipe gets from whoever runs it.
 *
 * @typedef {object} Tools
 * @property {(name: string, body: () => void) => unknown} describe
 * @property {(name: string, body: () => void | Promise<void>) => unknown} it
 * @property {import('hookswitch/testkit').Fc} fc
 * @property {Assert} assert
 *
 * @typedef {object} Assert
 * @property {(actual: unknown, expected: unknown, message?: string) => void} equal
 * @property {(actual: unknown, expected: unknown, message?: string) => void} deepEqual
 * @property {(work: () => unknown, expected: object) => void} throws
 */
