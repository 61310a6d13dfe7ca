import { describe, expect, it } from 'vitest'
import type { Backend } from '../../../adapters/storage/sqlite/backend.js'
import { withReadCache } from '../../../adapters/storage/sqlite/read-cache.js'
import type { RpcRequest } from '../../../adapters/storage/sqlite/rpc-methods.js'

/** A cache over a backend that records its requests and answers as the test says. */
function setUp() {
  const requests: RpcRequest[] = []
  const state = { version: 0, answer: async (): Promise<unknown> => ['webhook'] }
  const backend: Backend = {
    request: (call) => {
      requests.push(call)
      return state.answer()
    },
    webhookVersion: () => state.version,
    secret: async () => 'secret',
    replaceSecret: async () => {},
    close: async () => {},
  }
  const { request, invalidate } = withReadCache(backend)
  const candidates = (accounts = ['account'], hook = 'channel_create') =>
    request({ port: 'webhooks', method: 'candidates', args: [accounts, hook] })
  const lineage = (account = 'account') => request({ port: 'accounts', method: 'lineage', args: [account] })
  return { request, requests, candidates, invalidate, lineage, state }
}

describe('candidate webhooks', () => {
  it('are read once as long as no webhook changes', async () => {
    const { requests, candidates } = setUp()
    expect(await candidates()).toEqual(['webhook'])
    expect(await candidates()).toEqual(['webhook'])
    expect(requests).toHaveLength(1)
  })

  it('are cached by accounts, in their order, and hook', async () => {
    const { requests, candidates } = setUp()
    await candidates(['a', 'b'])
    await candidates(['b', 'a'])
    await candidates(['a","b'])
    await candidates(['a', 'b'], 'channel_destroy')
    expect(requests).toHaveLength(4)
  })

  it('are read again once a webhook has changed', async () => {
    const { requests, candidates, state } = setUp()
    await candidates()
    state.version = 1
    state.answer = async () => ['another']
    expect(await candidates()).toEqual(['another'])
    expect(await candidates()).toEqual(['another'])
    expect(requests).toHaveLength(2)
  })

  it('are not cached if a webhook changed while they were read', async () => {
    const { requests, candidates, state } = setUp()
    state.answer = async () => {
      state.version += 1
      return ['webhook']
    }
    await candidates()
    await candidates()
    expect(requests).toHaveLength(2)
  })

  it('are read again after an error', async () => {
    const { candidates, state } = setUp()
    state.answer = () => Promise.reject(new Error('out'))
    await expect(candidates()).rejects.toThrow('out')
    state.answer = async () => []
    expect(await candidates()).toEqual([])
  })

  it('are evicted, the oldest first, when too many webhooks are cached', async () => {
    const { requests, candidates, state } = setUp()
    state.answer = async () => Array.from({ length: 8_000 }, () => 'webhook')
    for (const account of ['a', 'b', 'c']) await candidates([account])
    await candidates(['c'])
    expect(requests).toHaveLength(3)
    await candidates(['a'])
    expect(requests).toHaveLength(4)
  })

  it('are cached, but other reads are not', async () => {
    const { request, requests } = setUp()
    const webhook: RpcRequest = { port: 'webhooks', method: 'read', args: ['account', 'id'] }
    const users: RpcRequest = { port: 'accounts', method: 'users', args: ['account'] }
    for (const call of [webhook, users]) {
      await request(call)
      await request(call)
    }
    expect(requests).toEqual([webhook, webhook, users, users])
  })
})

describe('a token and its holder', () => {
  const token: RpcRequest = { port: 'tokens', method: 'read', args: ['hash'] }
  const apiKey: RpcRequest = { port: 'accounts', method: 'apiKey', args: ['account'] }
  const user: RpcRequest = { port: 'accounts', method: 'user', args: ['account', 'user'] }
  const reads = [token, apiKey, user]

  it('are read once, each by its arguments', async () => {
    const { request, requests, state } = setUp()
    state.answer = async () => ({ id: 'row' })
    for (const call of [...reads, ...reads]) expect(await request(call)).toEqual({ id: 'row' })
    expect(requests).toEqual(reads)
    await request({ ...token, args: ['another'] })
    expect(requests).toHaveLength(4)
  })

  it('are evicted, the oldest first, when their documents are large', async () => {
    const { request, requests, state } = setUp()
    state.answer = async () => ({ custom: 'x'.repeat(64 * 1024) })
    const userOf = (id: number) =>
      request({ port: 'accounts', method: 'user', args: ['account', String(id)] })
    for (let id = 0; id < 400; id++) await userOf(id)
    await userOf(399)
    expect(requests).toHaveLength(400)
    await userOf(0)
    expect(requests).toHaveLength(401)
  })

  it('are read each time while they do not exist', async () => {
    const { request, requests, state } = setUp()
    state.answer = async () => undefined
    for (const call of [...reads, ...reads]) expect(await request(call)).toBeUndefined()
    expect(requests).toHaveLength(6)
  })

  it.each([
    ['tokens', 'issue', []],
    ['tokens', 'revoke', [token]],
    ['tokens', 'revokeAll', [token]],
    ['tokens', 'pruneTokens', [token]],
    ['accounts', 'remove', reads],
    ['accounts', 'putApiKey', reads],
    ['accounts', 'removeUser', reads],
    ['encryption', 'reencrypt', reads],
  ] as const)('are read again after %s.%s where it may change them', async (port, method, again) => {
    const { request, requests, state } = setUp()
    state.answer = async () => ({ id: 'row' })
    for (const call of reads) await request(call)
    await request({ port, method, args: [] } as RpcRequest)
    requests.length = 0
    for (const call of reads) await request(call)
    expect(requests).toEqual(again)
  })
})

describe('the lineage of an account', () => {
  const change: RpcRequest = { port: 'accounts', method: 'update', args: [{ id: 'account' }] }

  it('is read once, whatever happens to webhooks', async () => {
    const { requests, lineage, state } = setUp()
    state.answer = async () => [{ id: 'account' }, { id: 'parent' }]
    await lineage()
    state.version = 1
    expect(await lineage()).toEqual([{ id: 'account' }, { id: 'parent' }])
    expect(requests).toHaveLength(1)
    await lineage('another')
    expect(requests).toHaveLength(2)
  })

  it('is read again once an account has changed', async () => {
    const { request, lineage, state } = setUp()
    await lineage()
    await request(change)
    state.answer = async () => [{ id: 'moved' }]
    expect(await lineage()).toEqual([{ id: 'moved' }])
  })

  it('is read again after a change that failed, which may have been committed', async () => {
    const { request, lineage, state } = setUp()
    await lineage()
    state.answer = () => Promise.reject(new Error('out'))
    await expect(request(change)).rejects.toThrow('out')
    state.answer = async () => [{ id: 'moved' }]
    expect(await lineage()).toEqual([{ id: 'moved' }])
  })

  it('is not cached if it was answered during a change', async () => {
    const { request, lineage, state } = setUp()
    let commit = () => {}
    state.answer = () =>
      new Promise((resolve) => {
        commit = () => resolve(undefined)
      })
    const changing = request(change)
    state.answer = async () => [{ id: 'before' }]
    // Reads are executed while writes wait for the host's transaction.
    expect(await lineage()).toEqual([{ id: 'before' }])
    commit()
    await changing
    state.answer = async () => [{ id: 'after' }]
    expect(await lineage()).toEqual([{ id: 'after' }])
  })

  it('is not cached if a change was requested after it', async () => {
    const { request, lineage, state } = setUp()
    let answer = (_rows: readonly object[]) => {}
    state.answer = () =>
      new Promise((resolve) => {
        answer = resolve
      })
    const before = lineage()
    state.answer = async () => undefined
    await request(change)
    answer([{ id: 'before' }])
    expect(await before).toEqual([{ id: 'before' }])
    state.answer = async () => [{ id: 'after' }]
    expect(await lineage()).toEqual([{ id: 'after' }])
  })

  it('is copied for each caller', async () => {
    const { lineage, state } = setUp()
    state.answer = async () => [{ id: 'account', enabled: true }]
    for (let requests = 0; requests < 2; requests++) {
      const copy = (await lineage()) as { enabled: boolean }[]
      expect(copy).toEqual([{ id: 'account', enabled: true }])
      copy[0]!.enabled = false
      copy.pop()
    }
  })

  it('is not cached for an argument that is not an id', async () => {
    const { request, requests, state } = setUp()
    state.answer = async () => []
    for (const id of [10n, undefined, Symbol('id')]) {
      const call: RpcRequest = { port: 'accounts', method: 'lineage', args: [id] }
      expect(await request(call)).toEqual([])
      expect(requests.at(-1)).toBe(call)
    }
  })
})

describe('the read cache', () => {
  it('is cleared when the backend is lost', async () => {
    const { candidates, invalidate, lineage, state } = setUp()
    state.answer = async () => [{ id: 'one' }]
    await Promise.all([candidates(), lineage()])
    state.answer = () => Promise.reject(new Error('gone'))
    invalidate()
    await expect(candidates()).rejects.toThrow('gone')
    await expect(lineage()).rejects.toThrow('gone')
  })
})
