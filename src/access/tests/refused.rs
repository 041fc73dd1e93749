//! What is refused of an access file and of policies, in the words that people read: each with file, line and what to do.

use super::*;

fn file(text: &str) -> String {
    let file = ("access.toml".to_owned(), text.to_owned());
    Access::new(Some(&file), &[], None).map(drop).expect_err(text).to_string()
}

fn policy(text: &str) -> String {
    let file = ("access.toml".to_owned(), FILE.to_owned());
    let own = texts(&[("policies/own.cedar", text)]);
    Access::new(Some(&file), &own, None).map(drop).expect_err(text).to_string()
}

#[test]
fn an_access_file_that_cannot_be_meant_is_refused() {
    let person = |rest: &str| format!("[[people]]\nname = \"ann\"\naccounts = [\"telegram:5\"]\n{rest}");
    let refused = [
        file("[[people]\n"),
        file("[[peoples]]\nname = \"ann\"\n"),
        file("[[people]]\nname = \"ann\"\n"),
        file("[[people]]\nname = \"ann\"\naccounts = [\n  \"telegram:5\",\n  \"discord:ann#1234\",\n]\n"),
        file("[[people]]\nname = \"ann\"\naccounts = [\"matrix:@ann:example.org\"]\n"),
        file("[[people]]\nname = \"Ann Other\"\naccounts = []\n"),
        file("[[services]]\nname = \"countersign\"\n"),
        file(&person("roles = [\"aprover\"]\n")),
        file(&person("roles = [\"owner of this process\"]\n")),
        file(&person("[[people]]\nname = \"bob\"\naccounts = [\"telegram:5\"]\n")),
        file(&person("[[groups]]\nname = \"ann\"\nmembers = []\n")),
        file(&person("[[groups]]\nname = \"ops\"\nmembers = [\"anne\"]\n")),
        file("[[groups]]\nname = \"a\"\nmembers = [\"b\"]\n[[groups]]\nname = \"b\"\nmembers = [\"a\"]\n"),
        file("[[groups]]\nname = \"a\"\nmembers = [\"a\"]\n"),
        file("[[environments]]\nname = \"staging\"\n"),
        file("[[resources]]\nlabels = [\"shop\"]\n"),
        file("[[rooms]]\nplatform = \"discord\"\nid = \"1\"\nenvironment = \"moon\"\n"),
        file("[[rooms]]\nplatform = \"discord\"\nid = \"1\"\ncontrol = \"free\"\n"),
        file("[[rooms]]\nplatform = \"discord\"\nid = \"1\"\n[[rooms]]\nplatform = \"discord\"\nid = \"1\"\n"),
        file("[[rooms]]\nplatform = \"telegramm\"\nid = \"1\"\n"),
        file("[[platform_roles]]\nplatform = \"discord\"\nid = \"SRE\"\nroles = [\"viewer\"]\n"),
        file("[[platform_roles]]\nplatform = \"telegram\"\nid = \"administrator\"\nroles = [\"viewer\"]\n"),
        file(
            "[[platform_roles]]\nplatform = \"telegram\"\nid = \"administrator\"\nspace = \"\"\nroles = [\"viewer\"]\n",
        ),
        file("[[platform_roles]]\nplatform = \"console\"\nid = \"x\"\nroles = [\"viewer\"]\n"),
        file("[[platform_roles]]\nplatform = \"matrix\"\nid = \"x\"\nroom = \"!a:b\"\nroles = [\"vewer\"]\n"),
    ];
    insta::assert_snapshot!(refused.join("\n"), @r#"
    access.toml (line 1): unclosed array table, expected `]`
    access.toml (line 1): unknown field `peoples`, expected one of `people`, `services`, `groups`, `environments`, `resources`, `rooms`, `platform_roles`, `approvals`, `matrix`
    access.toml (line 1): missing field `accounts`
    access.toml (line 5): `discord:ann#1234` is no Discord account; use the number of 17 to 20 digits that Copy User ID gives in developer mode
    access.toml (line 3): `matrix:@ann:example.org` is on a homeserver that is not allowed; write `homeservers = ["example.org"]` under `[matrix]` in the access file, or use another account
    access.toml (line 2): `Ann Other` is no name here; use up to 64 small letters, digits, `-`, `_` and `.`
    access.toml (line 2): `countersign` is the bot's own name
    access.toml (line 4): no policy speaks of the role `aprover`; did you mean `approver`? (the roles are admin, approver, operator, viewer)
    access.toml (line 4): no policy speaks of the role `owner of this process` (the roles are admin, approver, operator, viewer)
    access.toml (line 6): `telegram:5` is given to ann and to bob; an account belongs to one person, once
    access.toml (line 5): `ann` is the name of two; give each person, service and group its own
    access.toml (line 6): `anne` is no person and no group of this file; did you mean `ann`?
    access.toml (line 2): group `a` is a member of itself, through its members; take one of them out
    access.toml (line 2): group `a` is a member of itself, through its members; take one of them out
    access.toml (line 2): environment `staging` has no pattern; give it ids, hosts or names
    access.toml (line 2): these labels are given to nothing; give ids, hosts or names
    access.toml (line 4): `moon` is no environment of this file (production)
    access.toml (line 4): unknown variant `free`, expected one of `read_only`, `controlled`, `autonomous`
    access.toml (line 6): this room stands here twice; keep one entry
    access.toml (line 2): `telegramm` is no platform; write one of console, discord, matrix, telegram
    access.toml (line 3): `SRE` is no Discord role; use the number of 17 to 20 digits that Copy Role ID gives in developer mode
    access.toml (line 3): whoever makes a room gives themselves its roles; say with `room` or `space` where this one counts
    access.toml (line 3): whoever makes a room gives themselves its roles; say with `room` or `space` where this one counts
    access.toml (line 3): `console` has no roles of its own; use discord, telegram or matrix
    access.toml (line 5): no policy speaks of the role `vewer`; did you mean `viewer`? (the roles are admin, approver, operator, viewer)
    "#);
}

#[test]
fn a_policy_that_cannot_be_meant_is_refused() {
    let refused = [
        policy("permit (principal, action, resource)\n"),
        policy("// first\npermit (principal, action == Action::\"decid\", resource);"),
        policy("permit (principal, action == Action::\"talk\", resource)\nwhen { context.risk == \"low\" };"),
        policy("permit (principal, action, resource)\nwhen { resource.owner == \"ann\" };"),
        policy("permit (principal, action, resource)\nwhen { resource.environment == 3 };"),
        policy("permit (principal in Team::\"sre\", action, resource);"),
        policy("permit (principal is Role, action, resource);"),
        policy("forbid (\n    principal in Group::\"night-shit\",\n    action, resource);"),
        policy("permit (principal == Person::\"eve\", action, resource);"),
        policy("permit (principal == ?principal, action, resource);"),
        policy("@id(\"x\")\npermit (principal, action, resource);\n@id(\"x\")\nforbid (principal, action, resource);"),
    ];
    insta::assert_snapshot!(refused.join("\n"), @r#"
    policies/own.cedar (line 1): unexpected end of input; expected `;` or identifier
    policies/own.cedar (line 2): unrecognized action `Action::"decid"`; see config/access/schema.cedarschema for what policies can speak of
    policies/own.cedar (line 2): attribute `risk` in context for Action::"talk" not found; see config/access/schema.cedarschema for what policies can speak of
    policies/own.cedar (line 2): attribute `owner` on entity type `Resource` not found; see config/access/schema.cedarschema for what policies can speak of
    policies/own.cedar (line 2): the types Long and String are not compatible; both operands to a `==` expression must have compatible types. Types must be exactly equal to be compatible
    policies/own.cedar (line 1): unrecognized entity type `Team`; see config/access/schema.cedarschema for what policies can speak of
    policies/own.cedar (line 1): unable to find an applicable action given the policy scope constraints; see config/access/schema.cedarschema for what policies can speak of
    policies/own.cedar (line 2): Group::"night-shit" is not in the access file; did you mean `night-shift`?
    policies/own.cedar (line 1): Person::"eve" is not in the access file; add it there or correct the policy
    policies/own.cedar: holds a template (`?principal` or `?resource`), which nothing fills in; write the name out
    policies/own.cedar: duplicate template or policy id `x (policies/own.cedar)`
    "#);
}

#[test]
fn the_shipped_policies_are_sound_and_count_as_nobodys_own() {
    let policies = Policies::load(&[]).expect("they are sound");
    assert_eq!(policies.own, 0);
    assert_eq!(
        policies.roles.into_iter().collect::<Vec<_>>(),
        ["admin", "approver", "operator", "owner of this process", "viewer"]
    );
}
