import assert from 'node:assert/strict'
import type { DefineRule } from './fixture.js'
import { newToken, WALL_MS } from './sample-data.js'

/** Rules of access tokens. */
export function tokenRules(rule: DefineRule): void {
  rule('a token is read as it was issued, by the API key or by a user', async (fixture) => {
    const tokens = [
      newToken('account'),
      newToken('account', { userId: 'user' }),
      newToken('account', { role: 'read' }),
    ]
    for (const token of tokens) {
      await fixture.store.tokens.issue(token)
      assert.deepEqual(await fixture.store.tokens.read(token.hash), token)
    }
    assert.equal(await fixture.store.tokens.read('unknown'), undefined)
  })

  rule('an expired token is still read: the store does not decide validity', async (fixture) => {
    const token = newToken('account', { expiresMs: 1 })
    await fixture.store.tokens.issue(token)
    assert.deepEqual(await fixture.store.tokens.read(token.hash), token)
  })

  rule('a revoked token cannot be read, and revoke returns whether it existed', async (fixture) => {
    const [token, other] = [newToken('account'), newToken('account')]
    await fixture.store.tokens.issue(token)
    await fixture.store.tokens.issue(other)
    assert.equal(await fixture.store.tokens.revoke(token.hash), true)
    assert.equal(await fixture.store.tokens.read(token.hash), undefined)
    assert.equal(await fixture.store.tokens.revoke(token.hash), false)
    assert.deepEqual(await fixture.store.tokens.read(other.hash), other)
  })

  rule('revokeAll revokes the tokens of an account, of one user, or of the API key', async (fixture) => {
    const tokens = fixture.store.tokens
    const ofKey = newToken('one')
    const ofAlice = [newToken('one', { userId: 'alice' }), newToken('one', { userId: 'alice' })]
    const ofBob = newToken('one', { userId: 'bob' })
    const ofOther = newToken('two', { userId: 'alice' })
    for (const token of [ofKey, ...ofAlice, ofBob, ofOther]) await tokens.issue(token)
    assert.equal(await tokens.revokeAll('one', 'alice'), 2)
    assert.equal(await tokens.read(ofAlice[0]!.hash), undefined)
    assert.equal(await tokens.read(ofAlice[1]!.hash), undefined)
    assert.deepEqual(await tokens.read(ofKey.hash), ofKey)
    assert.equal(await tokens.revokeAll('one', null), 1)
    assert.equal(await tokens.read(ofKey.hash), undefined)
    assert.deepEqual(await tokens.read(ofBob.hash), ofBob)
    await tokens.issue(newToken('one'))
    assert.equal(await tokens.revokeAll('one'), 2)
    assert.equal(await tokens.revokeAll('one'), 0)
    assert.deepEqual(await tokens.read(ofOther.hash), ofOther)
  })

  rule('pruneTokens removes tokens that expired at or before now, up to the limit', async (fixture) => {
    const expired = [1, 2, 3].map((ms) => newToken('account', { expiresMs: WALL_MS - ms }))
    const atThatMoment = newToken('account', { expiresMs: WALL_MS })
    const alive = newToken('account', { expiresMs: WALL_MS + 1 })
    for (const token of [alive, ...expired, atThatMoment]) await fixture.store.tokens.issue(token)
    assert.equal(await fixture.store.tokens.pruneTokens(WALL_MS, 3), 3)
    assert.equal(await fixture.store.tokens.pruneTokens(WALL_MS, 3), 1)
    assert.equal(await fixture.store.tokens.pruneTokens(WALL_MS, 3), 0)
    for (const token of [...expired, atThatMoment])
      assert.equal(await fixture.store.tokens.read(token.hash), undefined)
    assert.deepEqual(await fixture.store.tokens.read(alive.hash), alive)
  })

  rule('revoked tokens are not counted by pruneTokens', async (fixture) => {
    const token = newToken('account', { expiresMs: WALL_MS })
    await fixture.store.tokens.issue(token)
    await fixture.store.tokens.revoke(token.hash)
    assert.equal(await fixture.store.tokens.pruneTokens(WALL_MS, 10), 0)
  })
}
