/** The JSON Schema of configuration files, made from the table of settings. */
import { flagOf, variableOf } from './setting-names.js'
import { publishedSchema, type SettingSchema } from './setting-schema.js'
import { SETTING_NAMES, type SettingName, settingOf } from './settings.js'

/** Where the schema is published: the name under which the package exports it. */
const SCHEMA_ID = 'https://unpkg.com/hookswitch/dist/config.schema.json'

/** Settings that a file can contain. */
export const FILE_SETTINGS: readonly SettingName[] = SETTING_NAMES.filter(
  (name) => settingOf(name).isInFile !== false,
)

/** The schema of a whole file. Settings with a dot in their name are nested. */
export const CONFIG_SCHEMA: SettingSchema = {
  type: 'object',
  properties: { $schema: { type: 'string' }, ...propertiesOf(FILE_SETTINGS) },
  additionalProperties: false,
  expected: 'an object of settings',
}

function propertiesOf(names: readonly SettingName[]): Record<string, SettingSchema> {
  const properties: Record<string, SettingSchema> = {}
  for (const name of names) {
    const [group = '', key] = name.split('.')
    if (key === undefined) properties[group] = schemaOf(name)
    else {
      const inner = properties[group]?.properties ?? {}
      properties[group] = {
        type: 'object',
        properties: { ...inner, [key]: schemaOf(name) },
        additionalProperties: false,
      }
    }
  }
  return properties
}

function schemaOf(name: SettingName): SettingSchema {
  const { schema, about, default: value, defaultText, reloadable } = settingOf(name)
  const description = [
    `${about[0]?.toUpperCase()}${about.slice(1)}.`,
    ...(defaultText === undefined ? [] : [`Default: ${defaultText}.`]),
    settingOf(name).hasFlag === false ? '' : `Flag ${flagOf(name)}, variable ${variableOf(name)}.`,
    settingOf(name).hasFlag === false ? `Variable ${variableOf(name)}.` : '',
    reloadable ? 'Applied by SIGHUP.' : '',
  ]
  return {
    ...schema,
    description: description.filter((sentence) => sentence !== '').join(' '),
    ...(value === undefined ? {} : { default: value }),
  }
}

/** The JSON Schema as the package publishes it: `hookswitch/config.schema.json`. @internal */
export function publishedConfigSchema(): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: SCHEMA_ID,
    title: 'Configuration of hookswitch serve',
    ...publishedSchema(CONFIG_SCHEMA),
  }
}
