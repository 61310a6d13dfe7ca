import assert from 'node:assert/strict'
import { newToken, WALL_MS } from './fixtures.js'
import type { Promised } from './workbench.js'

export function tokenPromises(promised: Promised): void {
  promised('a token is read as it was issued, for the API key and for a user', async (bench) => {
    const tokens = [newToken('account'), newToken('account', { userId: 'user' })]
    for (const token of tokens) {
      await bench.store.tokens.issue(token)
      assert.deepEqual(await bench.store.tokens.read(token.hash), token)
    }
    assert.equal(await bench.store.tokens.read('unknown'), undefined)
  })

  promised('an expired token is still read: whether it is valid is decided elsewhere', async (bench) => {
    const token = newToken('account', { expiresMs: 1 })
    await bench.store.tokens.issue(token)
    assert.deepEqual(await bench.store.tokens.read(token.hash), token)
  })

  promised('a revoked token is gone, and revoking says whether there was one', async (bench) => {
    const [token, other] = [newToken('account'), newToken('account')]
    await bench.store.tokens.issue(token)
    await bench.store.tokens.issue(other)
    assert.equal(await bench.store.tokens.revoke(token.hash), true)
    assert.equal(await bench.store.tokens.read(token.hash), undefined)
    assert.equal(await bench.store.tokens.revoke(token.hash), false)
    assert.deepEqual(await bench.store.tokens.read(other.hash), other)
  })

  promised('all tokens of an account, of one user, or of its API key are revoked at once', async (bench) => {
    const tokens = bench.store.tokens
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

  promised(
    'pruning removes tokens that expired at or before that moment, no others, at most so many',
    async (bench) => {
      const expired = [1, 2, 3].map((ms) => newToken('account', { expiresMs: WALL_MS - ms }))
      const atThatMoment = newToken('account', { expiresMs: WALL_MS })
      const alive = newToken('account', { expiresMs: WALL_MS + 1 })
      for (const token of [alive, ...expired, atThatMoment]) await bench.store.tokens.issue(token)
      assert.equal(await bench.store.tokens.pruneTokens(WALL_MS, 3), 3)
      assert.equal(await bench.store.tokens.pruneTokens(WALL_MS, 3), 1)
      assert.equal(await bench.store.tokens.pruneTokens(WALL_MS, 3), 0)
      for (const token of [...expired, atThatMoment])
        assert.equal(await bench.store.tokens.read(token.hash), undefined)
      assert.deepEqual(await bench.store.tokens.read(alive.hash), alive)
    },
  )

  promised('revoked tokens leave nothing to prune', async (bench) => {
    const token = newToken('account', { expiresMs: WALL_MS })
    await bench.store.tokens.issue(token)
    await bench.store.tokens.revoke(token.hash)
    assert.equal(await bench.store.tokens.pruneTokens(WALL_MS, 10), 0)
  })
}
