/** The page of the users, as the settings describe it. */
import { errorCode, type HookswitchError } from 'hookswitch'
import type { HttpService } from 'hookswitch/adapter'
import { type PortalOptions, portal } from 'hookswitch/portal'
import { type Settings, wrongSetting } from './read-settings.js'
import type { SettingName } from './settings.js'

/** Settings by the option of `portal` that they give. */
const SETTING_OF_OPTION = {
  title: 'portalTitle',
  logo: 'portalLogo',
  accent: 'portalAccent',
  language: 'portalLanguage',
  helpUrl: 'portalHelpUrl',
  colorScheme: 'portalColorScheme',
} as const satisfies Partial<Record<keyof PortalOptions, SettingName>>

/**
 * Creates the page; reads its logo.
 *
 * @returns `undefined`: the settings leave it out
 * @throws `InvalidOption` naming the setting
 */
export function createPage(settings: Settings): HttpService | undefined {
  const { values } = settings
  if (values.portal === false) return undefined
  const options = Object.entries(SETTING_OF_OPTION).map(([option, name]) => [option, values[name]])
  try {
    return portal(Object.fromEntries(options.filter(([, value]) => value !== undefined)))
  } catch (thrown) {
    if (errorCode(thrown) !== 'InvalidOption') throw thrown
    const { field, message } = thrown as HookswitchError
    const name = SETTING_OF_OPTION[field as keyof typeof SETTING_OF_OPTION]
    throw wrongSetting(settings, name, message.slice(field!.length + 1))
  }
}
