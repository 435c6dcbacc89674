// Parameters that say who is looking, not at what: campaign and click identifiers, and sessions.
// Dropping them errs towards "seen": a site that gives one of these names a meaning loses pages.

/** Names of parameters: whole ones, and how others begin. */
export interface ParameterNames {
  readonly names: ReadonlySet<string>
  readonly prefixes: readonly string[]
}

/** Of campaigns; the case of a letter counts. */
export const utmParameters: ParameterNames = { names: new Set(), prefixes: ['utm_'] }

/** Of campaigns and clicks, in lower case. */
export const trackingParameters: ParameterNames = {
  names: new Set(
    `gclid gclsrc dclid gbraid wbraid gad_source gad_campaignid srsltid _ga _gl
     fbclid fb_action_ids fb_action_types fb_source igshid igsh
     msclkid yclid ysclid _openstat twclid ttclid li_fat_id rdt_cid epik scclid
     mc_cid mc_eid mkt_tok _hsenc _hsmi hsctatracking vero_id vero_conv oly_anon_id oly_enc_id
     wickedid irclickid s_cid __s rb_clickid`.split(/\s+/),
  ),
  prefixes: ['utm_', 'mtm_', 'matomo_', 'pk_', 'piwik_', 'hsa_', 'ga_'],
}

/** Of sessions, in lower case. */
export const sessionParameters: ParameterNames = {
  names: new Set(
    'jsessionid phpsessid sid sessid sessionid session_id session-id cfid cftoken zenid oscsid xtcsid'.split(
      ' ',
    ),
  ),
  prefixes: ['aspsessionid'],
}

/** Whether a name is one of the list. */
export const isListed = (name: string, { names, prefixes }: ParameterNames): boolean =>
  names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))

export const isTracking = (name: string): boolean => isListed(name.toLowerCase(), trackingParameters)

export const isSession = (name: string): boolean => isListed(name.toLowerCase(), sessionParameters)

const sessionPathParameter = /;(?:jsessionid|phpsessid|sid|sessionid)=[^/;]*/gi
const aspNetSegment = /\/\((?:[A-Za-z]\([^/()]*\))+\)(?=\/)/g
const dotSegment = /^(?:\.|%2e){1,2}$/i

/** The path without `;jsessionid=…` and ASP.NET's `/(S(…))/`; never leaves a dot segment that was none before. */
export function dropSessionsFromPath(path: string): string {
  if (!path.includes(';') && !path.includes('(')) return path
  const segments = path.split('/').map((segment) => {
    const kept = segment.replace(sessionPathParameter, '')
    return dotSegment.test(kept) ? segment : kept
  })
  return segments.join('/').replace(aspNetSegment, '')
}
