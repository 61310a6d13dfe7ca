import { errorCode } from 'hookswitch'
import { checkAccounts } from 'hookswitch/adapter'
import { describe, expect, it } from 'vitest'

const account = (id: string, more: object = {}) => ({ id, name: id, realm: `${id}.example`, ...more })

describe('checkAccounts', () => {
  it('accepts what accounts.ensure may accept: parents in any order or elsewhere, updates, no ids', () => {
    checkAccounts([])
    checkAccounts([account('b', { parentId: 'a' }), account('a', { parentId: 'elsewhere' })])
    checkAccounts([{ name: 'x', realm: 'x' }, account('y'), { name: 'y', realm: 'y.example' }, account('y')])
  })

  it.each([
    [{}, 'InvalidInput', /array/, undefined],
    [[account('a'), 7], 'InvalidInput', /^1: /, '1'],
    [[account('a'), account('b', { name: 5 })], 'InvalidInput', /^1\.name: /, '1.name'],
    [
      [account('a'), account('b', { realm: 'A.example ' })],
      'Conflict',
      /account 1 .* realm is taken/,
      '1.realm',
    ],
    [[account('a', { parentId: 'a' })], 'InvalidInput', /cannot be its own ancestor/, '0.parentId'],
    [
      [account('c', { parentId: 'a' }), account('a', { parentId: 'b' }), account('b', { parentId: 'a' })],
      'InvalidInput',
      /cannot be its own ancestor/,
      '1.parentId',
    ],
  ])('rejects %j', (list, code, message, path) => {
    let thrown: unknown
    try {
      checkAccounts(list as never)
    } catch (caught) {
      thrown = caught
    }
    expect(errorCode(thrown)).toBe(code)
    expect((thrown as Error).message).toMatch(message)
    const { failures, field } = thrown as { failures?: readonly { path: string }[]; field?: string }
    if (path !== undefined) expect(failures?.[0]?.path ?? field).toBe(path)
  })
})
