/** How a switch is written in a configuration file: as the text of its flag, or as an object with the same parameters. */
import type { SettingSchema } from './setting-schema.js'
import type { ParameterReaders } from './switch-parameters.js'
import { PARAMETER_HELP, SWITCH_PARAMETERS, type SwitchFlag } from './switch-table.js'

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

/** The schema of an item of the list of these switches. */
export function switchItemSchema(flag: SwitchFlag): SettingSchema {
  const readers: ParameterReaders = SWITCH_PARAMETERS[flag]
  const parameters = Object.entries(readers).map(([name, { schema }]): [string, SettingSchema] => {
    const about = PARAMETER_HELP[name]?.about
    return [
      keyOfParameter(name),
      { ...(schema ?? { type: 'string', minLength: 1 }), ...(about && { description: about }) },
    ]
  })
  const password = { type: 'string', minLength: 1, description: "this switch's password" } as const
  return {
    anyOf: [
      { type: 'string', minLength: 1 },
      {
        type: 'object',
        properties: {
          address: { type: 'string', minLength: 1, description: 'the address, as in the flag' },
          ...(Object.hasOwn(readers, 'password-env') && { password }),
          ...Object.fromEntries(parameters),
        },
        required: ['address'],
        additionalProperties: false,
      },
    ],
    expected: 'an address, or an object with an address',
  }
}
