import { errorCode } from 'hookswitch'
import { checkAccounts } from 'hookswitch/adapter'
import { describe, expect, it } from 'vitest'

const account = (id: string, more: object = {}) => ({ id, name: id, realm: `${id}.example`, ...more })

describe('checkAccounts', () => {
  it('accepts what accounts.ensure may accept: parents in any order or elsewhere, updates, no ids', () => {
    for (const list of [
      [],
      [account('b', { parentId: 'a' }), account('a', { parentId: 'elsewhere' })],
      [{ name: 'x', realm: 'x' }, account('y'), { name: 'y', realm: 'y.example' }, account('y')],
    ])
      expect(checkAccounts(list)).toEqual([])
  })

  it('names every account that is wrong', () => {
    const list = [account('a', { name: 5 }), account('b'), account('c', { realm: 'b.example' }), 7]
    expect(checkAccounts(list as never).map(({ message }) => message)).toEqual([
      expect.stringMatching(/^0\.name: /),
      'account 2 of the list: this realm is taken',
      expect.stringMatching(/^3: /),
    ])
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
    const [thrown] = checkAccounts(list as never)
    expect(errorCode(thrown)).toBe(code)
    expect(thrown?.message).toMatch(message)
    const { failures, field } = thrown as { failures?: readonly { path: string }[]; field?: string }
    if (path !== undefined) expect(failures?.[0]?.path ?? field).toBe(path)
  })
})
