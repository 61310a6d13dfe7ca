import assert from 'node:assert/strict'
import type { DefineRule } from './fixture.js'

/** Rules of holds. */
export function holdRules(rule: DefineRule): void {
  rule('what is held is listed in order, once, until it is released', async ({ store: { holds } }) => {
    assert.deepEqual(await holds.list(), [])
    for (const scope of ['b', '*', 'a', 'B']) assert.equal(await holds.put(scope), true)
    assert.equal(await holds.put('b'), false)
    assert.deepEqual(await holds.list(), ['*', 'B', 'a', 'b'])
    assert.equal(await holds.remove('b'), true)
    assert.equal(await holds.remove('b'), false)
    assert.deepEqual(await holds.list(), ['*', 'B', 'a'])
  })
}
