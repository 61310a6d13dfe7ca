import { describe, expect, it } from 'vitest'
import type { Backend } from '../../../adapters/storage/sqlite/backend.js'
import type { Call } from '../../../adapters/storage/sqlite/call.js'
import { rememberingAnswers } from '../../../adapters/storage/sqlite/known-answers.js'

/** A database that notes what it is asked, and answers when the test says so. */
function underTest() {
  const asked: Call[] = []
  const state = { changes: 0, answer: async (): Promise<unknown> => ['webhook'] }
  const backend: Backend = {
    ask: (call) => {
      asked.push(call)
      return state.answer()
    },
    webhookChanges: () => state.changes,
    secret: async () => 'secret',
    close: async () => {},
  }
  const { ask, forget } = rememberingAnswers(backend)
  const candidates = (accounts = ['account'], hook = 'channel_create') =>
    ask({ door: 'webhooks', method: 'candidates', args: [accounts, hook] })
  const lineage = (account = 'account') => ask({ door: 'accounts', method: 'lineage', args: [account] })
  return { ask, asked, candidates, forget, lineage, state }
}

describe('who may want an event', () => {
  it('is asked for once, as long as no webhook changes', async () => {
    const { asked, candidates } = underTest()
    expect(await candidates()).toEqual(['webhook'])
    expect(await candidates()).toEqual(['webhook'])
    expect(asked).toHaveLength(1)
  })

  it('is asked for by accounts, in their order, and hook', async () => {
    const { asked, candidates } = underTest()
    await candidates(['a', 'b'])
    await candidates(['b', 'a'])
    await candidates(['a","b'])
    await candidates(['a', 'b'], 'channel_destroy')
    expect(asked).toHaveLength(4)
  })

  it('is asked for again once a webhook has changed', async () => {
    const { asked, candidates, state } = underTest()
    await candidates()
    state.changes = 1
    state.answer = async () => ['another']
    expect(await candidates()).toEqual(['another'])
    expect(await candidates()).toEqual(['another'])
    expect(asked).toHaveLength(2)
  })

  it('is not remembered where a webhook changed while it was asked for', async () => {
    const { asked, candidates, state } = underTest()
    state.answer = async () => {
      state.changes += 1
      return ['webhook']
    }
    await candidates()
    await candidates()
    expect(asked).toHaveLength(2)
  })

  it('is asked for again after a failure', async () => {
    const { candidates, state } = underTest()
    state.answer = () => Promise.reject(new Error('out'))
    await expect(candidates()).rejects.toThrow('out')
    state.answer = async () => []
    expect(await candidates()).toEqual([])
  })

  it('is forgotten, the oldest first, where it is of too many webhooks', async () => {
    const { asked, candidates, state } = underTest()
    state.answer = async () => Array.from({ length: 8_000 }, () => 'webhook')
    for (const account of ['a', 'b', 'c']) await candidates([account])
    await candidates(['c'])
    expect(asked).toHaveLength(3)
    await candidates(['a'])
    expect(asked).toHaveLength(4)
  })

  it('nothing else is remembered', async () => {
    const { ask, asked } = underTest()
    const webhook: Call = { door: 'webhooks', method: 'read', args: ['account', 'id'] }
    const users: Call = { door: 'accounts', method: 'users', args: ['account'] }
    for (const call of [webhook, users]) {
      await ask(call)
      await ask(call)
    }
    expect(asked).toEqual([webhook, webhook, users, users])
  })
})

describe('whose an account is', () => {
  const change: Call = { door: 'accounts', method: 'update', args: [{ id: 'account' }] }

  it('is asked for once, whatever happens to webhooks', async () => {
    const { asked, lineage, state } = underTest()
    state.answer = async () => [{ id: 'account' }, { id: 'parent' }]
    await lineage()
    state.changes = 1
    expect(await lineage()).toEqual([{ id: 'account' }, { id: 'parent' }])
    expect(asked).toHaveLength(1)
    await lineage('another')
    expect(asked).toHaveLength(2)
  })

  it('is asked for again once an account was changed', async () => {
    const { ask, lineage, state } = underTest()
    await lineage()
    await ask(change)
    state.answer = async () => [{ id: 'moved' }]
    expect(await lineage()).toEqual([{ id: 'moved' }])
  })

  it('is asked for again after a change that failed: it may have been made', async () => {
    const { ask, lineage, state } = underTest()
    await lineage()
    state.answer = () => Promise.reject(new Error('out'))
    await expect(ask(change)).rejects.toThrow('out')
    state.answer = async () => [{ id: 'moved' }]
    expect(await lineage()).toEqual([{ id: 'moved' }])
  })

  it('is not remembered where it was answered while a change was under way', async () => {
    const { ask, lineage, state } = underTest()
    let made = () => {}
    state.answer = () =>
      new Promise((resolve) => {
        made = () => resolve(undefined)
      })
    const changing = ask(change)
    state.answer = async () => [{ id: 'before' }]
    // Readers go on while those that write wait for the host's transaction.
    expect(await lineage()).toEqual([{ id: 'before' }])
    made()
    await changing
    state.answer = async () => [{ id: 'after' }]
    expect(await lineage()).toEqual([{ id: 'after' }])
  })

  it('is not remembered where a change was asked for after it', async () => {
    const { ask, lineage, state } = underTest()
    let answer = (_rows: readonly object[]) => {}
    state.answer = () =>
      new Promise((resolve) => {
        answer = resolve
      })
    const before = lineage()
    state.answer = async () => undefined
    await ask(change)
    answer([{ id: 'before' }])
    expect(await before).toEqual([{ id: 'before' }])
    state.answer = async () => [{ id: 'after' }]
    expect(await lineage()).toEqual([{ id: 'after' }])
  })

  it('is given to each who asks as their own', async () => {
    const { lineage, state } = underTest()
    state.answer = async () => [{ id: 'account', enabled: true }]
    for (let asked = 0; asked < 2; asked++) {
      const given = (await lineage()) as { enabled: boolean }[]
      expect(given).toEqual([{ id: 'account', enabled: true }])
      given[0]!.enabled = false
      given.pop()
    }
  })

  it('is not remembered of what is no id', async () => {
    const { ask, asked, state } = underTest()
    state.answer = async () => []
    for (const id of [10n, undefined, Symbol('id')]) {
      const call: Call = { door: 'accounts', method: 'lineage', args: [id] }
      expect(await ask(call)).toEqual([])
      expect(asked.at(-1)).toBe(call)
    }
  })
})

describe('what is remembered', () => {
  it('is forgotten when the database is gone', async () => {
    const { candidates, forget, lineage, state } = underTest()
    state.answer = async () => [{ id: 'one' }]
    await Promise.all([candidates(), lineage()])
    state.answer = () => Promise.reject(new Error('gone'))
    forget()
    await expect(candidates()).rejects.toThrow('gone')
    await expect(lineage()).rejects.toThrow('gone')
  })
})
