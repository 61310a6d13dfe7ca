import { describe, expect, it } from 'vitest'
import {
  changedAccount,
  newAccount,
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

describe('the input of an account', () => {
  it('needs a name and a realm and nothing else', () => {
    expect(parseAccountInput(good)).toEqual(good)
    expect(failuresOf(() => parseAccountInput({}))).toEqual(['name required', 'realm required'])
  })

  it('gets defaults, and its realm trimmed and lower-cased', () => {
    const input = parseAccountInput({ name: 'Acme', realm: ' ACME.Test ', parentId: undefined })
    expect(newAccount(input, 'a1', 5)).toEqual({
      id: 'a1',
      name: 'Acme',
      realm: 'acme.test',
      enabled: true,
      language: 'en-us',
      isReseller: false,
      createdMs: 5,
      modifiedMs: 5,
    })
  })

  it.each<[string, object, string]>([
    ['an unknown key', { colour: 'red' }, 'colour additionalProperties'],
    ['a key of every object', JSON.parse('{"__proto__": 1}'), '__proto__ additionalProperties'],
    ['an id with a slash', { id: 'a/b' }, 'id pattern'],
    ['an id that is a number', { id: 7 }, 'id type'],
    ['an empty name', { name: '' }, 'name minLength'],
    ['a blank name', { name: '  ' }, 'name pattern'],
    ['a name with a NUL', { name: 'a\0' }, 'name pattern'],
    ['a name with half a character', { name: 'a\ud800' }, 'name pattern'],
    ['a name of 129 characters', { name: 'x'.repeat(129) }, 'name maxLength'],
    ['a realm with a space inside', { realm: 'a b' }, 'realm pattern'],
    ['a realm of spaces', { realm: '   ' }, 'realm minLength'],
    ['a realm of 254 characters', { realm: 'x'.repeat(254) }, 'realm maxLength'],
    ['a parent that is no id', { parentId: '' }, 'parentId pattern'],
    ['a parent of null', { parentId: null }, 'parentId type'],
    ['enabled as text', { enabled: 'true' }, 'enabled type'],
    ['a short API key', { apiKey: 'abc' }, 'apiKey pattern'],
    ['an API key that is no text', { apiKey: 1 }, 'apiKey type'],
    ['a language that is a sentence', { language: 'the queen’s English' }, 'language pattern'],
    ['isReseller as number', { isReseller: 1 }, 'isReseller type'],
    ['users that are no list', { users: {} }, 'users type'],
    ['a user that is null', { users: [null] }, 'users.0 type'],
    ['a user without password', { users: [{ username: 'bob' }] }, 'users.0.password required'],
    [
      'a user with an empty password',
      { users: [{ username: 'bob', password: '' }] },
      'users.0.password minLength',
    ],
    ['a colon in a user name', { users: [{ username: 'a:b', password: 'c' }] }, 'users.0.username pattern'],
    [
      'a user name with a space at its end',
      { users: [{ username: 'a ', password: 'c' }] },
      'users.0.username pattern',
    ],
    [
      'an unknown key of a user',
      { users: [{ username: 'b', password: 'c', role: 1 }] },
      'users.0.role additionalProperties',
    ],
    [
      'two users of one name',
      {
        users: [
          { username: 'Bob', password: 'x' },
          { username: 'bob', password: 'y' },
        ],
      },
      'users.1.username uniqueItems',
    ],
    [
      'two users of one id',
      {
        users: [
          { id: 'u', username: 'a', password: 'x' },
          { id: 'u', username: 'b', password: 'y' },
        ],
      },
      'users.1.id uniqueItems',
    ],
  ])('refuses %s by its path', (_, wrong, failure) => {
    expect(failuresOf(() => parseAccountInput({ ...good, ...wrong }))).toEqual([failure])
  })

  it.each([null, undefined, 'acme', 7, [good]])('refuses %j, which is no object', (input) => {
    expect(failuresOf(() => parseAccountInput(input))).toEqual([' type'])
  })

  it('names every broken rule at once, and never the value of a secret', () => {
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

describe('the change of an account', () => {
  const account = newAccount(parseAccountInput({ ...good, parentId: 'p', resellerId: 'r' }), 'a1', 5)

  it('leaves what it does not name', () => {
    expect(changedAccount(account, parseAccountChange({ enabled: false }), 9)).toEqual({
      ...account,
      enabled: false,
      modifiedMs: 9,
    })
  })

  it('removes parent and reseller by null', () => {
    const changed = changedAccount(account, parseAccountChange({ parentId: null, resellerId: null }), 9)
    expect(changed).not.toHaveProperty('parentId')
    expect(changed).not.toHaveProperty('resellerId')
  })

  it('refuses what has a verb of its own, and null elsewhere', () => {
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

describe('the input of a user', () => {
  it('is a name, a password and at will an id', () => {
    expect(parseUserInput({ username: 'bob', password: ': :' })).toEqual({ username: 'bob', password: ': :' })
    expect(failuresOf(() => parseUserInput({ username: 'bob', password: 7, id: 'no good' }))).toEqual([
      'password type',
      'id pattern',
    ])
  })

  it('has a password of at least one character', () => {
    expect(parsePassword(' ')).toBe(' ')
    expect(failuresOf(() => parsePassword(''))).toEqual(['password minLength'])
    expect(failuresOf(() => parsePassword(undefined))).toEqual(['password type'])
  })
})
