//! What operators type into mongosh, both ways.

use proptest::prelude::*;

use super::*;

const READS: &[&str] = &[
    "db.users.find()",
    "db.users.find({})",
    "db.users.find({age: {$gt: 30}}).limit(5)",
    "db.users.findOne({name: 'a'})",
    "db.users.find({_id: ObjectId(\"5f1d7f3e1c9d440000000000\")}).pretty()",
    "db.users.countDocuments({active: true})",
    "db.users.estimatedDocumentCount()",
    "db.users.count()",
    "db.users.distinct('country')",
    "db.users.getIndexes()",
    "db.users.stats()",
    "db.users.stats().size",
    "db.users.find().sort({a: -1}).limit(10).toArray()",
    "db.users.find({a: 1}).explain('executionStats')",
    "db.users.explain('executionStats').find({a: 1})",
    "db.users.aggregate([{$match: {a: 1}}, {$group: {_id: '$b', n: {$sum: 1}}}])",
    "db.users.aggregate([{$indexStats: {}}])",
    "db.users.aggregate([{$collStats: {storageStats: {}}}]).toArray()",
    "db.stats()",
    "db.serverStatus()",
    "db.serverStatus().connections",
    "db.serverStatus().connections.current",
    "db.currentOp()",
    "db.currentOp({active: true, secs_running: {$gt: 5}})",
    "db.getCollectionNames()",
    "db.getCollectionNames().forEach(printjson)",
    "db.version()",
    "db.hostInfo()",
    "db.getSiblingDB('admin').stats()",
    "db.getSiblingDB(\"shop\").orders.countDocuments({})",
    "db.getCollection('a-b').find()",
    "db['a-b'].find()",
    "db.system.profile.find().sort({ts: -1}).limit(5)",
    "db.adminCommand({ping: 1})",
    "db.runCommand({serverStatus: 1})",
    "db.adminCommand('ping')",
    "db.adminCommand({listDatabases: 1})",
    "db.adminCommand({replSetGetStatus: 1})",
    "db.runCommand({collStats: 'users'})",
    "rs.status()",
    "rs.conf()",
    "rs.status().members",
    "rs.status().members[0].name",
    "rs.printReplicationInfo()",
    "sh.status()",
    "sh.getBalancerState()",
    "show dbs",
    "show collections;",
    "show databases",
    "printjson(db.serverStatus())",
    "JSON.stringify(rs.status())",
    "print(db.users.count())",
    "printjson(db.users.find().toArray())",
    "EJSON.stringify(db.stats())",
    "JSON.stringify(db.stats(), null, 2)",
    "db.users.find(); db.orders.count();",
    "db.users.find()\n  .limit(5)",
    "db.users.find().forEach(printjson)",
    "db.logs.find({t: {$gte: ISODate('2024-01-01T00:00:00Z')}})",
    "db.logs.find({t: {$lt: new Date('2024-01-01')}})",
    "db.users.find({}, {name: 1, _id: 0}).skip(5).limit(5)",
    "db.users.find({n: NumberLong('5')})",
    "db.users.getPlanCache().list()",
    "db.getMongo().getDBNames()",
    "db.users.totalIndexSize()",
    "db.users.find({a: -1.5})",
    "db.getReplicationInfo()",
    "db.users.find().hint({a: 1}).maxTimeMS(1000)",
    "db.getUsers()",
];

const DANGERS: &[&str] = &[
    "",
    ";",
    "1",
    "db.users.drop()",
    "db.dropDatabase()",
    "db.users.deleteMany({})",
    "db.users.deleteOne({a: 1})",
    "db.users.remove({})",
    "db.users.insertOne({a: 1})",
    "db.users.insert({a: 1})",
    "db.users.updateMany({}, {$set: {a: 1}})",
    "db.users.updateOne({}, {$set: {a: 1}})",
    "db.users.replaceOne({}, {})",
    "db.users.findAndModify({})",
    "db.users.findOneAndDelete({})",
    "db.users.findOneAndUpdate({}, {})",
    "db.users.bulkWrite([])",
    "db.users.createIndex({a: 1})",
    "db.users.dropIndex('a')",
    "db.users.dropIndexes()",
    "db.users.renameCollection('b')",
    "db.createCollection('a')",
    "db.createUser({})",
    "db.dropUser('a')",
    "db.shutdownServer()",
    "db.killOp(5)",
    "db.fsyncLock()",
    "db.setProfilingLevel(2)",
    "db.users.mapReduce(1, 2)",
    "db.eval('x')",
    "rs.stepDown()",
    "rs.initiate()",
    "rs.reconfig({})",
    "rs.add('h')",
    "sh.stopBalancer()",
    "sh.addShard('h')",
    "db.users.reIndex()",
    "db.users.aggregate([{$out: 'x'}])",
    "db.users.aggregate([{$match: {}}, {$merge: {into: 'x'}}])",
    "db.users.aggregate([{'$out': 'x'}])",
    "db.users.aggregate([{\"\\u0024out\": 'x'}])",
    "db.users.find({$where: 'sleep(1)'})",
    "db.users.find({$expr: {$function: {body: 'x', args: [], lang: 'js'}}})",
    "db.users.find({a: function() {}})",
    "db.users.aggregate([{$lookup: {pipeline: [{$merge: 'x'}]}}])",
    "db.users.aggregate([{$changeStream: {}}])",
    "db.users.watch()",
    "db.adminCommand({shutdown: 1})",
    "db.runCommand({drop: 'users'})",
    "db.runCommand('dropDatabase')",
    "db.adminCommand({setParameter: 1})",
    "db.adminCommand({fsync: 1})",
    "db.runCommand(x)",
    "db.runCommand({})",
    "db.runCommand()",
    "db.runCommand({ping: 1, '0': 1})",
    "db.runCommand({profile: 2})",
    "db['dropDatabase']()",
    "db.users['drop']()",
    "db.getSiblingDB('x').dropDatabase()",
    "db.getCollection('a').drop()",
    "db.users.runCommand('drop')",
    "db.users.find().forEach(function(d) { db.x.insert(d) })",
    "db.users.find().forEach(d => db.x.insert(d))",
    "db.users.find().map(d => d)",
    "db.users.find().forEach(x)",
    "x = db.users.find()",
    "var x = 1",
    "let x = db.users.drop()",
    "while(true) {}",
    "for (;;) {}",
    "db.users.find(`a`)",
    "db.users.find(/a/)",
    "db.users.find() // x",
    "db.users.find() /* x */",
    "db.users.find({a: db.users.drop()})",
    "db.users.find(db.dropDatabase())",
    "db.users.find({[x]: 1})",
    "db.users.find({...x})",
    "db.users.find({a})",
    "db.users.find(x)",
    "db.users.find({a: x})",
    "db.users.find().limit(process.exit())",
    "load('x.js')",
    "eval('x')",
    "require('fs').writeFileSync('x', 'y')",
    "process.exit(1)",
    "quit()",
    "exit",
    "use shop",
    "fs.unlinkSync('x')",
    "printjson(db.users.drop())",
    "print(db.users.find(), db.users.drop())",
    "JSON.stringify(db.dropDatabase())",
    "printjson(eval('x'))",
    "db.users.find(); db.users.drop()",
    "db.users.find(),db.users.drop()",
    "db.users.find() || db.users.drop()",
    "db.users.find()\ndb.users.drop()",
    "db.users.find({a: 'x\\'})",
    "db.users.find({a: 'x",
    "db.users.find(",
    "db.",
    "db..a",
    "db.constructor.find()",
    "db.users.constructor('x')",
    "db._mongo.find()",
    "db.__proto__.x()",
    "db.users.find({__proto__: {}})",
    "new Mongo('x').getDB('y').dropDatabase()",
    "Mongo('x')",
    "db.getMongo().setReadPref('x')",
    "connect('x')",
    "show x",
    "show dbs; db.dropDatabase()",
    "db.users.find({a: new Function('x')})",
    "db.users.find({a: ObjectId(x)})",
    "db.users.find({a: Date(db.x.drop())})",
    "db.users.validate({full: true})",
    "db.users.find().tailable()",
    "ｄb.users.find()",
    "db.users.find({a:1}).noCursorTimeout()",
    "rs.status",
    "sh.status",
    "db.users.find().x",
];

#[test]
fn reading_queries_only_read() {
    for js in READS {
        assert_eq!(judge(js), Ok(()), "{js}");
    }
}

#[test]
fn everything_else_is_a_danger() {
    for js in DANGERS {
        // Without a call, a name only shows the method itself.
        assert!(judge(js).is_err(), "{js}");
    }
}

#[test]
fn reasons_say_what_it_does() {
    let texts = [
        "db.users.drop()",
        "db.users.aggregate([{$out: 'x'}])",
        "db.users.find({$where: 'x'})",
        "db.users.find(/a/)",
        "db.users.frobnicate()",
        "db.users.find(x)",
        "db.runCommand({drop: 'x'})",
        "",
    ];
    let reasons: Vec<String> = texts.iter().map(|js| judge(js).expect_err("each is a danger").reason).collect();
    insta::assert_snapshot!(reasons.join("\n"), @"
    removes something for good (drop)
    writes what it finds into a collection ($out)
    runs code on the server ($where)
    cannot be read as a query for MongoDB: `/` is not understood there
    calls frobnicate, which is not known to only read
    cannot be read as a query for MongoDB: `x` stands for something unseen
    removes something for good (drop)
    cannot be read as a query for MongoDB: there is no query
    ");
}

#[test]
fn deep_nesting_ends() {
    for (open, close) in [("[", "]"), ("{a:", "}"), ("print(", ")"), ("(", ")"), ("ObjectId(", ")")] {
        let text = format!("db.a.find({}1{})", open.repeat(1_000), close.repeat(1_000));
        assert!(judge(&text).is_err(), "{open}");
        assert!(judge(&format!("{}db{}", open.repeat(1_000), close.repeat(1_000))).is_err(), "{open}");
    }
}

proptest! {
    #[test]
    fn any_text_gets_an_answer(js in "(db|rs|sh|\\.|[a-z]{1,5}|\\(|\\)|\\{|\\}|\\[|\\]|'|\"|:|,|;|\\$|\\\\|\\PC){0,40}") {
        let _ = judge(&js);
    }

    /// A write put anywhere into a read is found.
    #[test]
    fn a_write_does_not_hide(read in prop::sample::select(READS), write in prop::sample::select(vec![
        ";db.users.drop()", ".drop()", "\ndb.users.drop()", ", db.users.drop()", "; load('x')", ".forEach(d => 1)",
    ])) {
        prop_assert!(judge(&format!("{read}{write}")).is_err(), "{read}{write}");
        if let Some((head, tail)) = read.split_once('(') {
            prop_assert!(judge(&format!("{head}(db.users.drop(),{tail}")).is_err(), "{read}");
        }
    }
}
