/** Checks a list of accounts without a store: everything that does not depend on the accounts that exist. Pure. */
import { errorCode, HookswitchError, invalidInput } from '../errors.js'
import { normalizeRealm } from './account.js'
import { type AccountInput, parseAccountInput } from './account-input.js'
import { withIndex } from './ensure.js'

/**
 * Checks a list of accounts before anything is opened. What only the store can know, such as a realm that another account
 * has, is checked by `accounts.ensure`.
 *
 * @returns `InvalidInput` or `Conflict` for each account that is wrong; the field begins with the index in the list, from 0,
 *   as with `accounts.ensure`
 */
export function checkAccounts(inputs: readonly AccountInput[]): readonly Error[] {
  if (!Array.isArray(inputs)) {
    return [
      invalidInput([
        { path: '', rule: 'type', message: 'Value did not match type(s): array', target: 'array' },
      ]),
    ]
  }
  const problems: Error[] = []
  const idOfRealm = new Map<string, string | undefined>()
  inputs.forEach((input, index) => {
    try {
      const { id, realm } = parseAccountInput(input)
      const key = normalizeRealm(realm)
      // An entry without an id updates the account of its realm.
      if (id !== undefined && idOfRealm.get(key) !== undefined && idOfRealm.get(key) !== id)
        throw new HookswitchError('Conflict', 'this realm is taken', { field: 'realm' })
      idOfRealm.set(key, id ?? idOfRealm.get(key))
    } catch (thrown) {
      if (errorCode(thrown) === undefined) throw thrown
      problems.push(withIndex(index, thrown) as HookswitchError)
    }
  })
  // Cycles are looked for among accounts that are right otherwise.
  if (problems.length > 0) return problems
  const parentOf = new Map(inputs.map(({ id, parentId }) => [id, parentId]))
  return inputs.flatMap((input, index) => {
    if (!isOwnAncestor(input, parentOf)) return []
    const path = `${index}.parentId`
    return [invalidInput([{ path, rule: 'error', message: 'An account cannot be its own ancestor' }])]
  })
}

function isOwnAncestor(
  { id, parentId }: AccountInput,
  parentOf: ReadonlyMap<string | undefined, string | undefined>,
): boolean {
  const ancestors = new Set<string>()
  let ancestor = parentId
  // A cycle above the account ends the walk.
  while (ancestor !== undefined && !ancestors.has(ancestor)) {
    ancestors.add(ancestor)
    ancestor = parentOf.get(ancestor)
  }
  return id !== undefined && ancestors.has(id)
}
