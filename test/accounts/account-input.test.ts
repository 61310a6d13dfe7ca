import { describe, expect, it } from 'vitest'
import {
  applyAccountChange,
  buildAccount,
  parseAccountChange,
  parseAccountInput,
  parsePassword,
  parseUserInput,
} from '../../src/accounts/account-input.js'
import { errorCode, type HookswitchError } from '../../src/errors.js'

const good = { name: 'Acme', realm: 'acme.test' }

function failuresOf(work: () => unknown): string[] {
  try {
    work()
  } catch (thrown) {
    expect(errorCode(thrown)).toBe('InvalidInput')
    return (thrown as HookswitchError).failures!.map(({ path, rule }) => `${path} ${rule}`)
  }
  return []
}

describe('the input of accounts.create', () => {
  it('requires only a name and a realm', () => {
    expect(parseAccountInput(good)).toEqual(good)
    expect(failuresOf(() => parseAccountInput({}))).toEqual(['name required', 'realm required'])
  })

  it('gets defaults, and a trimmed and lower-cased realm', () => {
    const input = parseAccountInput({ name: 'Acme', realm: ' ACME.Test ', parentId: undefined })
    expect(buildAccount(input, 'a1', 5)).toEqual({
      id: 'a1',
      name: 'Acme',
      realm: 'acme.test',
      enabled: true,
      language: 'en-us',
      isReseller: false,
      createdMs: 5,
      modifiedMs: 5,
      revision: 1,
    })
  })

  it.each<[string, object, string]>([
    ['an unknown key', { colour: 'red' }, 'colour additionalProperties'],
    ['an inherited key', JSON.parse('{"__proto__": 1}'), '__proto__ additionalProperties'],
    ['an id with a slash', { id: 'a/b' }, 'id pattern'],
    ['an id that is a number', { id: 7 }, 'id type'],
    ['an empty name', { name: '' }, 'name minLength'],
    ['a blank name', { name: '  ' }, 'name pattern'],
    ['a name with a NUL', { name: 'a\0' }, 'name pattern'],
    ['a name with a lone surrogate', { name: 'a\ud800' }, 'name pattern'],
    ['a name of 129 characters', { name: 'x'.repeat(129) }, 'name maxLength'],
    ['a realm with a space inside', { realm: 'a b' }, 'realm pattern'],
    ['a blank realm', { realm: '   ' }, 'realm minLength'],
    ['a realm of 254 characters', { realm: 'x'.repeat(254) }, 'realm maxLength'],
    ['a parent that is not an id', { parentId: '' }, 'parentId pattern'],
    ['a null parent', { parentId: null }, 'parentId type'],
    ['enabled as a string', { enabled: 'true' }, 'enabled type'],
    ['a short API key', { apiKey: 'abc' }, 'apiKey pattern'],
    ['an API key that is not a string', { apiKey: 1 }, 'apiKey type'],
    ['a language that is not a tag', { language: 'the queen’s English' }, 'language pattern'],
    ['isReseller as a number', { isReseller: 1 }, 'isReseller type'],
    ['users that are not an array', { users: {} }, 'users type'],
    ['a user that is null', { users: [null] }, 'users.0 type'],
    ['a user without a password', { users: [{ username: 'bob' }] }, 'users.0.password required'],
    [
      'a user with an empty password',
      { users: [{ username: 'bob', password: '' }] },
      'users.0.password minLength',
    ],
    ['a colon in a user name', { users: [{ username: 'a:b', password: 'c' }] }, 'users.0.username pattern'],
    [
      'a user name with a trailing space',
      { users: [{ username: 'a ', password: 'c' }] },
      'users.0.username pattern',
    ],
    [
      'an unknown key of a user',
      { users: [{ username: 'b', password: 'c', role: 1 }] },
      'users.0.role additionalProperties',
    ],
    [
      'two users with the same name',
      {
        users: [
          { username: 'Bob', password: 'x' },
          { username: 'bob', password: 'y' },
        ],
      },
      'users.1.username uniqueItems',
    ],
    [
      'two users with the same id',
      {
        users: [
          { id: 'u', username: 'a', password: 'x' },
          { id: 'u', username: 'b', password: 'y' },
        ],
      },
      'users.1.id uniqueItems',
    ],
  ])('rejects %s and names its path', (_, wrong, failure) => {
    expect(failuresOf(() => parseAccountInput({ ...good, ...wrong }))).toEqual([failure])
  })

  it.each([null, undefined, 'acme', 7, [good]])('rejects %j, which is not an object', (input) => {
    expect(failuresOf(() => parseAccountInput(input))).toEqual([' type'])
  })

  it('reports every violated rule at once, without the values of secrets', () => {
    const work = () =>
      parseAccountInput({
        realm: 'a b',
        apiKey: 'too short',
        users: [{ username: 'a:', password: 'x'.repeat(1025) }],
      })
    expect(failuresOf(work)).toEqual([
      'realm pattern',
      'apiKey pattern',
      'users.0.username pattern',
      'users.0.password maxLength',
      'name required',
    ])
    try {
      work()
    } catch (thrown) {
      const text = JSON.stringify([thrown, (thrown as Error).message])
      expect(text).not.toContain('too short')
      expect(text).not.toContain('xxx')
    }
  })
})

describe('the input of accounts.update', () => {
  const account = buildAccount(parseAccountInput({ ...good, parentId: 'p', resellerId: 'r' }), 'a1', 5)

  it('leaves omitted fields unchanged', () => {
    expect(applyAccountChange(account, parseAccountChange({ enabled: false }), 9)).toEqual({
      ...account,
      enabled: false,
      modifiedMs: 9,
      revision: 2,
    })
  })

  it('removes parent and reseller with null', () => {
    const changed = applyAccountChange(account, parseAccountChange({ parentId: null, resellerId: null }), 9)
    expect(changed).not.toHaveProperty('parentId')
    expect(changed).not.toHaveProperty('resellerId')
  })

  it('rejects fields that have their own operation, and null for other fields', () => {
    expect(
      failuresOf(() =>
        parseAccountChange({ id: 'x', apiKey: 'x'.repeat(64), users: [], name: null, createdMs: 1 }),
      ),
    ).toEqual([
      'id additionalProperties',
      'apiKey additionalProperties',
      'users additionalProperties',
      'name type',
      'createdMs additionalProperties',
    ])
  })
})

describe('the input of accounts.addUser', () => {
  it('is a name, a password and optionally an id', () => {
    expect(parseUserInput({ username: 'bob', password: ': :' })).toEqual({ username: 'bob', password: ': :' })
    expect(failuresOf(() => parseUserInput({ username: 'bob', password: 7, id: 'no good' }))).toEqual([
      'password type',
      'id pattern',
    ])
  })

  it('requires a password of at least one character', () => {
    expect(parsePassword(' ')).toBe(' ')
    expect(failuresOf(() => parsePassword(''))).toEqual(['password minLength'])
    expect(failuresOf(() => parsePassword(undefined))).toEqual(['password type'])
  })
})
