/** How a switch is written in a configuration file: as the text of its flag, or as an object with the same parameters. */
import type { SettingSchema } from './setting-schema.js'
import { SWITCH_PARAMETERS, type SwitchSetting } from './switch-table.js'

/** A switch as an object: `{ address, password, accountFrom, customVariables, … }`. */
interface SwitchObject {
  readonly address: string
  readonly password?: string
  readonly [parameter: string]: unknown
}

/** A switch of a list of switches. */
export type SwitchItem = string | SwitchObject

/** `account-from` → `accountFrom`. */
export const keyOfParameter = (name: string) =>
  name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** The schema of an item of the list of switches of a setting. */
export function switchItemSchema(name: SwitchSetting): SettingSchema {
  const parameters = Object.entries(SWITCH_PARAMETERS[name]).map(([parameter, { schema, about }]) => [
    keyOfParameter(parameter),
    { ...(schema ?? { type: 'string', minLength: 1 }), description: about },
  ])
  const password = { type: 'string', minLength: 1, description: "this switch's password" } as const
  return {
    anyOf: [
      { type: 'string', minLength: 1 },
      {
        type: 'object',
        properties: {
          address: { type: 'string', minLength: 1, description: 'the address, as in the flag' },
          ...(Object.hasOwn(SWITCH_PARAMETERS[name], 'password-env') && { password }),
          ...Object.fromEntries(parameters),
        },
        required: ['address'],
        additionalProperties: false,
      },
    ],
    expected: 'an address, or an object with an address',
  }
}
